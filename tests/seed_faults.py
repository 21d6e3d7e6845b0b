"""Do the tests notice?  Plants one fault after another in a copy of the project and runs the tests on it.

    python tests/seed_faults.py [WORD ...]        only the faults whose name has one of the words

Prints a table, fault by fault, with the first test that failed; exits with 1 if a fault went unnoticed.  The first
ten are faults that transformers' own common test suite lets pass.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Fault:
    name: str
    file: str
    old: str
    new: str
    tests: str = "tests/modeling"


FAULTS = [
    Fault(
        "the decoder is not causal",
        "modeling/modeling_seq2see.py",
        "causal_mask = create_causal_mask(self.config, inputs_embeds, attention_mask, self_cache)",
        "causal_mask = create_bidirectional_mask(self.config, inputs_embeds, attention_mask)\n"
        "        for layer in self.layers:\n"
        "            layer.self_attn.is_causal = False",
    ),
    Fault(
        "the encoder sees source padding",
        "modeling/modeling_seq2see.py",
        "mask = create_bidirectional_mask(self.config, inputs_embeds, attention_mask)",
        "mask = create_bidirectional_mask(self.config, inputs_embeds, None)",
    ),
    Fault(
        "cross-attention sees source padding",
        "modeling/modeling_seq2see.py",
        "self.config, inputs_embeds, encoder_attention_mask, encoder_hidden_states=encoder_hidden_states",
        "self.config, inputs_embeds, None, encoder_hidden_states=encoder_hidden_states",
    ),
    Fault(
        "the decoder ignores its mask",
        "modeling/modeling_seq2see.py",
        "create_causal_mask(self.config, inputs_embeds, attention_mask, self_cache)",
        "create_causal_mask(self.config, inputs_embeds, None, self_cache)",
    ),
    Fault(
        "the loss ignores num_items_in_batch",
        "modeling/modeling_seq2see.py",
        "num_items_in_batch=num_items_in_batch\n",
        "num_items_in_batch=None\n",
    ),
    Fault(
        "the output matrix is not tied",
        "modeling/modeling_seq2see.py",
        '_tied_weights_keys = {"lm_head.weight": "model.shared.weight"}',
        "_tied_weights_keys = {}",
    ),
    Fault("no 1/sqrt(E)", "modeling/attention.py", "self.scaling = self.head_dim**-0.5", "self.scaling = 1.0"),
    Fault(
        "half of the sinusoids are constant",
        "modeling/positions.py",
        "torch.stack((angle_PE.sin(), angle_PE.cos())",
        "torch.stack((angle_PE.sin(), torch.ones_like(angle_PE))",
    ),
    Fault(
        "heads are mixed up",
        "modeling/attention.py",
        "x_BTD.view(*x_BTD.shape[:-1], -1, self.head_dim).transpose(1, 2)",
        "x_BTD.view(*x_BTD.shape[:-1], self.head_dim, -1).transpose(2, 3).transpose(1, 2)",
    ),
    Fault(
        "the config's defaults are not merged",
        "modeling/modeling_seq2see.py",
        "    @merge_with_config_defaults\n",
        "",
    ),
    Fault(
        "positions restart at every cached step",
        "modeling/modeling_seq2see.py",
        "start=self_cache.get_seq_length()",
        "start=0 * self_cache.get_seq_length()",
    ),
    Fault(
        "cross-attention keys appended at every step",
        "modeling/attention.py",
        "past_key_values.is_updated[self.layer_idx] = True",
        "pass",
    ),
    Fault(
        "weights shown after dropout",
        "modeling/attention.py",
        "return output_BTHE, weight_BHTS",
        "return output_BTHE, kept_BHTS",
    ),
    Fault(
        "the encoder is causal",
        "modeling/layers.py",
        "num_heads=config.encoder_attention_heads)",
        "num_heads=config.encoder_attention_heads, is_causal=True)",
    ),
    Fault(
        "labels shifted twice",
        "modeling/modeling_seq2see.py",
        'self.loss_type = "ForMaskedLM"',
        'self.loss_type = "ForCausalLM"',
    ),
    Fault(
        "the start token is forgotten",
        "modeling/modeling_seq2see.py",
        "torch.full_like(labels_BT[:, :1], start)",
        "torch.full_like(labels_BT[:, :1], pad)",
    ),
    Fault("embeddings not scaled", "modeling/modeling_seq2see.py", "embeddings_BTD * self.scale +", "embeddings_BTD +"),
    Fault(
        "sinusoids not rebuilt on loading",
        "modeling/modeling_seq2see.py",
        "init.copy_(module.table_PD, sinusoids(module.positions, module.d_model))",
        "pass",
    ),
    Fault(
        "cross-attention reads the target",
        "modeling/layers.py",
        "            source_BSD,\n            attention_mask=source_mask",
        "            x_BTD,\n            attention_mask=None",
    ),
    Fault(
        "missing tensors accepted",
        "modeling/loading.py",
        '    _refuse(folder, "tensors are missing", report["missing_keys"])\n',
        "",
    ),
    Fault("NaN accepted", "modeling/loading.py", "if not t.isfinite().all()", "if False"),
    Fault("config not bounded", "modeling/configuration_seq2see.py", "if not 1 <= value <= largest:", "if False:"),
    Fault(
        "the loss is averaged over each piece of a batch",
        "training/trainer.py",
        "if num_items_in_batch is None:",
        "if True:",
        tests="tests/training/test_trajectory.py -k eight",
    ),
    Fault(
        "label smoothing is forgotten",
        "training/trainer.py",
        "label_smoothing=self.args.label_smoothing_factor",
        "label_smoothing=0.0",
        tests="tests/training/test_trajectory.py -k smoothed",
    ),
    Fault(
        "ranks do not sum their gradients",
        "training/trainer.py",
        "loss = loss * self.accelerator.num_processes",
        "pass",
        tests="tests/training/test_trajectory.py -k two_give",
    ),
    Fault(
        "the order of batches ignores the epoch",
        "training/batching.py",
        "default_rng([seed, epoch])",
        "default_rng([seed, 0])",
        tests="tests/training/test_batching.py",
    ),
    Fault(
        "every process takes the same pairs",
        "training/batching.py",
        "batch[self.rank * self.accumulation + step :: hands]",
        "batch[step :: hands]",
        tests="tests/training/test_batching.py",
    ),
    Fault(
        "the weights being trained are lost on resuming",
        "training/trainer.py",
        "parameter.data.copy_(weights[name])",
        "pass",
        tests="tests/training/test_trajectory.py -k resuming",
    ),
    Fault(
        "evaluation trains on with the average",
        "training/trainer.py",
        "        finally:\n            self._swap()",
        "        finally:\n            pass",
        tests="tests/training/test_trainer.py -k evaluation",
    ),
    Fault(
        "a half-written optimizer is resumed from",
        "training/checkpoints.py",
        "if not zipfile.is_zipfile(folder / name):",
        "if False:",
        tests="tests/training/test_trainer.py -k half_written",
    ),
    Fault(
        "a checkpoint that failed is left behind",
        "training/trainer.py",
        "shutil.rmtree(folder, ignore_errors=True)",
        "pass",
        tests="tests/training/test_trainer.py -k space",
    ),
    Fault(
        "translations come out in another order",
        "training/translation.py",
        "texts[index] = ",
        "texts[len(texts) - 1 - index] = ",
        tests="tests/training/test_trainer.py -k order",
    ),
    Fault(
        "the split tears a sentence's pairs apart",
        "training/pairs.py",
        "_side(pair.source, fractions)",
        "_side(pair.source + pair.target, fractions)",
        tests="tests/training/test_pairs.py -k split",
    ),
    Fault(
        "the cache forgets the settings",
        "training/pairs.py",
        '{**asdict(data), "path": None}',
        "{}",
        tests="tests/training/test_pairs.py -k found_again",
    ),
    Fault(
        "the cache looks at names instead of content",
        "training/reading.py",
        'hashlib.file_digest(file, "blake2b").hexdigest()',
        "str(item)",
        tests="tests/training/test_pairs.py -k found_again",
    ),
    Fault(
        "several prepare the same data at once",
        "training/cache.py",
        'with FileLock(f"{folder}.lock"):',
        "if True:",
        tests="tests/training/test_pairs.py -k at_once",
    ),
    Fault(
        "kept ids are those of another tokenizer",
        "training/batching.py",
        "fingerprint(code, tokenizer.backend_tokenizer.to_str())",
        "fingerprint(code)",
        tests="tests/training/test_batching.py -k tokenised_once",
    ),
    Fault(
        "the workers' ids are put together in another order",
        "training/batching.py",
        'sorted(folder.glob("*.arrow"))',
        'sorted(folder.glob("*.arrow"), reverse=True)',
        tests="tests/training/test_batching.py -k workers",
    ),
    Fault(
        "a batch stops short of its budget",
        "training/batching.py",
        'side="right"',
        'side="left"',
        tests="tests/training/test_batching.py -k plain_loop",
    ),
    Fault(
        "new pieces start from nothing",
        "training/finetuning.py",
        "before_VD[[token.id for token in spell(piece)]].mean(0)",
        "before_VD[0]",
        tests="tests/training/test_run.py -k grown",
    ),
    Fault(
        "LoRA leaves new embeddings as they began",
        "training/lora.py",
        "requires_grad_(train_embedding)",
        "requires_grad_(False)",
        tests="tests/training/test_lora.py -k new_language",
    ),
    Fault(
        "LoRA trains the embeddings of a known language",
        "training/lora.py",
        "requires_grad_(train_embedding)",
        "requires_grad_(True)",
        tests="tests/training/test_lora.py -k only_what",
    ),
    Fault(
        "evaluation counts as training in tokens per second",
        "training/progress.py",
        "    def on_evaluate(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:\n"
        "        self.mark = time.perf_counter()",
        "    def on_evaluate(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:\n"
        "        pass",
        tests="tests/training/test_progress.py -k pace",
    ),
    Fault(
        "the second process tells of its warnings",
        "training/arguments.py",
        'log_level_replica: str = "error"',
        'log_level_replica: str = "warning"',
        tests="tests/training/test_launchers.py -k torchrun",
    ),
    Fault(
        "dropout is not seeded",
        "training/trainer.py",
        "torch.manual_seed(self.args.seed + self.args.process_index)",
        "torch.seed()",
        tests="tests/training/test_same_seed.py -k wherever",
    ),
    Fault(
        "a score counts the language tag",
        "serve/translator.py",
        "given=0 if first is None else 1)\n\n    def _pair",
        "given=0)\n\n    def _pair",
        tests="tests/serve/test_scoring.py -k plain_forward",
    ),
    Fault(
        "a scored translation sees its neighbour's padding",
        "serve/scoring.py",
        "log_probs_BT.double().tolist(), strict=True):\n            counted = row[given : len(targets[index])]",
        "log_probs_BT.double().tolist(), strict=True):\n            counted = row[given:]",
        tests="tests/serve/test_scoring.py -k plain_forward",
    ),
    Fault(
        "links are found with source and target exchanged",
        "lens/alignment.py",
        "for j, i in np.argwhere(found_JI)",
        "for i, j in np.argwhere(found_JI)",
        tests="tests/lens/test_alignment.py -k planted",
    ),
    Fault(
        "the alignment error counts possible links as sure",
        "lens/aer.py",
        "1 - (found_sure + found_possible)",
        "1 - (found_possible + found_possible)",
        tests="tests/lens/test_alignment.py -k by_hand",
    ),
    Fault(
        "a blank pair leaves no line of links",
        "seq2see/align.py",
        "yield from (next(found) if number in at else None for number, _ in chunk)",
        "yield from found",
        tests="tests/package/test_align_command.py -k a_line_for_each",
    ),
    Fault(
        "guided alignment forgets the tag before the labels",
        "training/guided.py",
        "(t + 1, s, 1 / len(words)",
        "(t, s, 1 / len(words)",
        tests="tests/training/test_guided.py -k row_of",
    ),
    Fault(
        "guided alignment lets the head look at padding",
        "training/guided.py",
        "masked_fill(hidden_B1S, torch.finfo(torch.float32).min)",
        "masked_fill(hidden_B1S, 0.0)",
        tests="tests/training/test_guided.py -k loss_is",
    ),
    Fault(
        "another head than the one asked for is guided",
        "training/guided.py",
        "[:, :, head].float()",
        "[:, :, 0].float()",
        tests="tests/training/test_guided.py -k loss_is",
    ),
    Fault(
        "dropout does not scale what it keeps",
        "training/kernels.py",
        "return kept, 256 / max(256 - threshold, 1)",
        "return kept, 1.0",
        tests="tests/training/test_kernels.py",
    ),
    Fault(
        "every eighth place of a dropout mask is never dropped",
        "training/kernels.py",
        ".random_(-(2**63), None)",
        ".random_(2**62, 2**63 - 1)",
        tests="tests/training/test_kernels.py",
    ),
    Fault(
        "all processes draw the same dropout masks",
        "training/trainer.py",
        "torch.manual_seed(self.args.seed + self.args.process_index)",
        "torch.manual_seed(self.args.seed)",
        tests="tests/training/test_trajectory.py -k of_our_own",
    ),
    Fault(
        "the gradient of short attention forgets the row's sum",
        "training/kernels.py",
        "torch.addcmul(grad_BHTS, weight_BHTS, grad_BHTS.sum(-1, keepdim=True), value=-1)",
        "grad_BHTS",
        tests="tests/training/test_kernels.py",
    ),
    Fault(
        "the kernels stay in the model after training",
        "training/kernels.py",
        "            module.__class__ = nn.Dropout",
        "            pass",
        tests="tests/training/test_kernels.py",
    ),
    Fault(
        "R-Drop looks one way only",
        "training/loss.py",
        "alpha / 4 * (p_from_q + q_from_p).sum()",
        "alpha / 4 * p_from_q.sum()",
        tests="tests/training/test_loss.py",
    ),
    Fault(
        "BPE-dropout cuts the same way in every epoch",
        "training/bpe_dropout.py",
        "self.dropout.set_epoch(self.epoch)",
        "pass",
        tests="tests/training/test_bpe_dropout.py",
    ),
    Fault(
        "a head's columns are another head's",
        "lens/ablation.py",
        "torch.arange(h * E, (h + 1) * E)",
        "torch.arange((site.heads - 1 - h) * E, (site.heads - h) * E)",
        tests="tests/lens/test_ablation.py",
    ),
    Fault(
        "the mean of a head counts padding",
        "lens/ablation.py",
        'args[0][real[sites[number].kind == "encoder"]]',
        "args[0].flatten(0, 1)",
        tests="tests/lens/test_ablation.py",
    ),
    Fault(
        "a choice is asked one step early",
        "lens/choices.py",
        "len(target) - 1 for target in targets",
        "max(len(target) - 2, 0) for target in targets",
        tests="tests/lens/test_patching.py",
    ),
    Fault(
        "a patch reaches every position",
        "lens/patching.py",
        "return where[stack].to(like_BTD.device)",
        "return torch.ones(like_BTD.shape[:2], dtype=torch.bool)",
        tests="tests/lens/test_patching.py",
    ),
    Fault(
        "a temperature works upside down",
        "lens/steering.py",
        "score_BHTS[:, head] /= temperature",
        "score_BHTS[:, head] *= temperature",
        tests="tests/lens/test_what_if.py",
    ),
    Fault(
        "a beam's score forgets its parent",
        "lens/beams.py",
        "total = sums[t][parent] + float",
        "total = float",
        tests="tests/lens/test_what_if.py",
    ),
    Fault(
        "positions stay in a word's static vector",
        "lens/embeddings.py",
        "if not positions:",
        "if False:",
        tests="tests/lens/test_embeddings.py",
    ),
    Fault(
        "an analogy adds what it should take away",
        "lens/embeddings.py",
        "plus - minus + other",
        "plus + minus - other",
        tests="tests/lens/test_embeddings.py",
    ),
    Fault(
        "variants of a sentence count as independent",
        "lens/heads.py",
        "np.unique(np.array(groups), return_inverse=True)",
        "np.unique(np.arange(len(values)), return_inverse=True)",
        tests="tests/lens/test_heads.py",
    ),
    Fault(
        "a head that looks at all nouns has an antecedent",
        "lens/heads.py",
        'if role == "antecedent":\n        away',
        'if role == "":\n        away',
        tests="tests/lens/test_heads.py",
    ),
    Fault(
        "random sets of heads come from any layer",
        "lens/effects.py",
        '(head.layer if alike == "layers" else 0)',
        "0",
        tests="tests/lens/test_heads.py",
    ),
    Fault(
        "a leaning to one pronoun looks like knowledge",
        "lens/effects.py",
        "np.where(is_first_N, margins_N, -margins_N)",
        "margins_N",
        tests="tests/lens/test_heads.py",
    ),
    Fault(
        "the variants of a sentence fall into both halves",
        "seq2see/gold.py",
        'story.contrast_key or f"alone {number}"',
        'f"alone {number}"',
        tests="tests/package/test_heads_command.py",
    ),
    Fault(
        "serve: a prefix is not forced",
        "serve/torch_engine.py",
        "if step >= len(self.prefix):",
        "if step >= min(1, len(self.prefix)):",
        tests="tests/serve/test_plan.py -k begins",
    ),
    Fault(
        "serve: rows draw from one generator",
        "serve/torch_engine.py",
        "generator=one) for one in self.generators",
        "generator=self.generators[0]) for one in self.generators",
        tests="tests/serve/test_plan.py -k company",
    ),
    Fault(
        "serve: a draw ignores its temperature",
        "serve/torch_engine.py",
        "TemperatureLogitsWarper(float(plan.temperature or 1))",
        "TemperatureLogitsWarper(1.0)",
        tests="tests/serve/test_plan.py -k often",
    ),
    Fault(
        "serve: the score of a draw has its noise in it",
        "serve/torch_engine.py",
        "scores.float().log_softmax(-1).gather(-1, taken_B1)",
        "ranked.float().log_softmax(-1).gather(-1, taken_B1)",
        tests="tests/serve/test_plan.py -k models_own",
    ),
    Fault(
        "serve: an export does not know its weights",
        "serve/export.py",
        'digest.update(hashlib.file_digest(file, "sha256").digest())',
        "pass",
        tests="tests/serve/test_ctranslate2.py -k made_once",
    ),
    Fault(
        "serve: half an export can be met",
        "serve/export.py",
        'scratch / "model").rename(folder)',
        'scratch / "model").joinpath("model.bin").rename(folder)',
        tests="tests/serve/test_ctranslate2.py -k whole",
    ),
    Fault(
        "serve: the length penalty does not reach CTranslate2",
        "serve/ctranslate2_engine.py",
        "length_penalty=plan.length_penalty",
        "length_penalty=1",
        tests="tests/serve/test_ctranslate2.py -k float32",
    ),
    Fault(
        "serve: importing the translator imports torch",
        "serve/translator.py",
        "import unicodedata\n",
        "import torch\nimport unicodedata\n",
        tests="tests/serve/test_ctranslate2.py -k no_torch",
    ),
    Fault(
        "serve: the fast codec reads special tokens",
        "serve/codec.py",
        "self._tokenizer.encode_special_tokens = True",
        "self._tokenizer.encode_special_tokens = False",
        tests="tests/serve/test_ctranslate2.py -k codecs",
    ),
    Fault(
        "training: case makes another sentence",
        "training/pairs.py",
        "filter(str.isalnum, source.casefold())",
        "filter(str.isalnum, source)",
        tests="tests/training/test_pairs.py -k punctuation",
    ),
    Fault(
        "training: apostrophes are not escaped for the literature's BLEU",
        "training/metrics.py",
        "return_str=True)",
        "return_str=True, escape=False)",
        tests="tests/training/test_metrics.py",
    ),
    Fault(
        "training: a start keeps its dropout",
        "training/finetuning.py",
        "changed.dropout = p",
        "pass",
        tests="tests/training/test_run.py -k dropout_of_its_own",
    ),
    Fault(
        "training: idle memory is never given back",
        "training/allocator.py",
        "self.library.malloc_trim(0)",
        "pass",
        tests="tests/training/test_allocator.py",
    ),
    Fault(
        "training: freed memory is not kept",
        "training/allocator.py",
        "library.mallopt(option, size)",
        "pass",
        tests="tests/training/test_allocator.py",
    ),
]


def run_with(fault: Fault) -> str | None:
    """The first test that fails with the fault planted, or None."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "seq2see"
        skipped = shutil.ignore_patterns(
            ".git", ".venv", "runs", "build", "dist", "__pycache__", "*.egg-info", ".*_cache"
        )
        shutil.copytree(ROOT, copy, ignore=skipped)
        path = copy / fault.file
        text = path.read_text(encoding="utf-8")
        if fault.old not in text:
            raise SystemExit(
                f"{fault.file} no longer has the text that the fault '{fault.name}' replaces: {fault.old!r}"
            )
        path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
        # A bare checkout wins over an installed package, so the copy is what the tests import.
        environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        command = [
            sys.executable,
            "-m",
            "pytest",
            *fault.tests.split(),
            "-x",
            "-q",
            "--tb=no",
            "--no-showlocals",
            "-p",
            "no:cacheprovider",
        ]
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
        if run.returncode and not failed:
            raise SystemExit(
                f"pytest ended with {run.returncode} and named no test:\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
            )
        return failed[1] if failed else None


def main(words: list[str]) -> int:
    unnoticed = 0
    for fault in FAULTS:
        if words and not any(word in fault.name for word in words):
            continue
        caught_by = run_with(fault)
        unnoticed += caught_by is None
        print(f"{fault.name:48s} {'noticed by ' + caught_by if caught_by else 'NOT NOTICED'}", flush=True)
    return 1 if unnoticed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
