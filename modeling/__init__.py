"""The network: `Seq2SeeConfig`, `Seq2SeeModel`, `Seq2SeeForConditionalGeneration`.

Importing this package registers the classes with transformers' Auto classes.  It also marks them, so that
`save_pretrained` copies their files.  A saved folder then loads without this package, with `trust_remote_code=True`,
and translates with `pipeline` (pipeline_seq2see).

Imports nothing of ours.
Begin with `positions.py`, then `attention.py`, `layers.py` and `modeling_seq2see.py`.
"""

from transformers import AutoConfig, AutoModel, AutoModelForSeq2SeqLM

from .configuration_seq2see import Seq2SeeConfig
from .modeling_seq2see import Seq2SeeForConditionalGeneration, Seq2SeeModel

AutoConfig.register(Seq2SeeConfig.model_type, Seq2SeeConfig)
AutoModel.register(Seq2SeeConfig, Seq2SeeModel)
AutoModelForSeq2SeqLM.register(Seq2SeeConfig, Seq2SeeForConditionalGeneration)
Seq2SeeConfig.register_for_auto_class()
Seq2SeeModel.register_for_auto_class("AutoModel")
Seq2SeeForConditionalGeneration.register_for_auto_class("AutoModelForSeq2SeqLM")

__all__ = ["Seq2SeeConfig", "Seq2SeeForConditionalGeneration", "Seq2SeeModel"]
