"""Threads that share a translator, in a fresh process: what is imported late is imported once."""

import subprocess
import sys

import pytest

CODE = """
import sys, threading
from seq2see import Translator
translator = Translator.from_pretrained(sys.argv[1], engine="ctranslate2")
gate, failures = threading.Barrier(2), []

def work(*ways):
    gate.wait()
    try:
        for way in ways:
            way("The cat is tired.")
    except BaseException as error:
        failures.append(repr(error))

ways = {
    "look": lambda text: translator.look(translator(text)),
    "sample": lambda text: translator(text, temperature=0.7),
    "html": lambda text: translator(f"<p>The <b>cat</b> is tired.</p>", format="html"),
    "score": lambda text: translator.score([text], ["Le chat."]),
    "view": lambda text: translator.look_at(text, "Le chat.", views=["norm", "left_out"]),
}
threads = [threading.Thread(target=work, args=[ways[name]]) for name in sys.argv[2:]]
[one.start() for one in threads], [one.join() for one in threads]
sys.exit("; ".join(failures) or 0)
"""


@pytest.mark.long
@pytest.mark.parametrize("ways", [("look", "sample"), *(
    pytest.param(ways, marks=pytest.mark.long) for ways in (("html", "sample"), ("score", "view")))])
def test_two_threads_may_be_the_first_to_need_torch(folder, ways):
    from seq2see.translate.ctranslate2_export import exported

    exported(folder, quantization="int8")
    done = subprocess.run([sys.executable, "-c", CODE, str(folder), *ways], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
