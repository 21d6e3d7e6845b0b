"""Fine-tune a Seq2See model with transformers' own Seq2SeqTrainer, on a file of lines `source TAB target`.

    python docs/finetune_with_seq2seq_trainer.py FOLDER PAIRS.tsv LANGUAGE OUTPUT

FOLDER is a finished run.  Seq2SeeTokenizer puts the tag of the target language in front of the labels.  AutoTokenizer
opens FOLDER too, as transformers' TokenizersBackend, which puts no tag there; the model refuses labels without one.
"""

import sys
from pathlib import Path

from datasets import Dataset
from transformers import AutoModelForSeq2SeqLM, DataCollatorForSeq2Seq, Seq2SeqTrainer, Seq2SeqTrainingArguments

from seq2see import Seq2SeeTokenizer


def make_trainer(name: str, pairs: Path, language: str, output: str) -> Seq2SeqTrainer:
    tokenizer = Seq2SeeTokenizer.from_pretrained(name, tgt_lang=language)
    model = AutoModelForSeq2SeqLM.from_pretrained(name)
    with pairs.open(encoding="utf-8") as file:  # str.splitlines would also split at U+2028
        rows = [line.rstrip("\n").split("\t") for line in file]
    data = Dataset.from_list([tokenizer(source, text_target=target) for source, target in rows])
    model.generation_config.forced_bos_token_id = tokenizer.tag_id(language)
    return Seq2SeqTrainer(
        model=model,
        args=Seq2SeqTrainingArguments(
            output, num_train_epochs=3, per_device_train_batch_size=32, learning_rate=3e-4, warmup_steps=0.1
        ),
        train_dataset=data,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        processing_class=tokenizer,
    )


if __name__ == "__main__":
    trainer = make_trainer(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4])
    trainer.train()
    trainer.save_model()
