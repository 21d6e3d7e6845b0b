"""What importing the page does, and does not, to the environment it lies in."""

import subprocess
import sys

CODE = """
import inspect, sys
from pathlib import Path
opened, file_of = [], inspect.getfile
sys.addaudithook(lambda event, of: event == "open" and opened.append((str(of[0]), of[1])))
import seq2see.serve.ui
seq2see.serve.ui.import_gradio()
import gradio
assert inspect.getfile is file_of and Path(inspect.getfile(gradio.Blocks)).name == "blocks.py"
print([name for name, mode in opened if name.endswith(".pyi")])
"""


def test_gradio_reads_and_writes_no_stubs():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
