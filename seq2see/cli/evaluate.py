"""The verb `evaluate`: prints the scores that `seq2see.training.evaluation` computes."""

import argparse
import json
from typing import Any

from seq2see.training.evaluation import evaluate, evaluation_data, load_on_one_engine, print_comparison, print_scores


def run(args: argparse.Namespace) -> int:
    """`args.run`, `args.against`, `args.data`, `args.split`, `args.source`, `args.target`, `args.num_beams`,
    `args.raw`, `args.engine`, `args.device` and `args.json`; the last line on stdout is one JSON object."""
    names = [args.run, *([args.against] if args.against else [])]
    models = load_on_one_engine(names, engine=args.engine, device=args.device,
                                trust_remote_code=args.trust_remote_code)
    on = evaluation_data(models[0], path=args.data, split=args.split, source=args.source, target=args.target)
    result: dict[str, Any] = {"run": str(args.run), "data": on.data.path, "split": on.split,
                              "source": on.data.source}
    for name, row in evaluate([*zip(names, models, strict=True)], on, raw=args.raw, num_beams=args.num_beams):
        result[name] = row
        if not args.json:
            print_scores(f"{on.data.source}-{name}", row)
            if "against" in row:
                print_comparison(row)
    print(json.dumps(result, ensure_ascii=False))
    return 0
