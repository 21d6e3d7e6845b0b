"""The baseline of `serving.py`, the simplest possible server: FastAPI and one `generate` per request.

    python benchmarks/_plain_server.py RUN PORT BEAMS THREADS
"""

import sys

import torch
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from seq2see import Seq2SeeTokenizer, load_checkpoint

run, port, beams, threads = sys.argv[1], *map(int, sys.argv[2:])
torch.set_num_threads(threads)
model, tokenizer = load_checkpoint(run), Seq2SeeTokenizer.from_pretrained(run)
app = FastAPI()


class Body(BaseModel):
    texts: list[str]


@app.post("/v1/translate")
def translate(body: Body) -> dict:
    ids = torch.tensor([tokenizer.encode_source(body.texts[0])])
    with torch.inference_mode():
        found = model.generate(ids, num_beams=beams)
    return {"translations": [{"text": tokenizer.decode_text(found[0])}]}


@app.get("/readyz")
def ready() -> str:
    return "ready"


uvicorn.run(app, port=port, log_level="warning")
