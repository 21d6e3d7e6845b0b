"""Faults of the page: what a visit has at work, what a browser sends, the demo's training, words in their places."""

from . import Fault

FAULTS = [
    Fault(
        "lens: the best known choice is the worst",
        "lens/alignment.py",
        "best = min(measured",
        "best = max(measured",
        tests="tests/lens/test_alignment.py -k goes_before",
    ),
    Fault(
        "page: browsers that come early are refused",
        "serve/ui/place.py",
        '"text/html" not in Request',
        '"text/plain" not in Request',
        tests="tests/serve/ui/test_first_minute.py -k asks_again",
    ),
    Fault(
        "demo: the first step tells how long the rest takes",
        "seq2see/demo_worker.py",
        "if done >= ENOUGH else None",
        "if done else None",
        tests="tests/cli/test_demo.py -k weights_as_they_are",
    ),
    Fault(
        "demo: the training outlives it",
        "seq2see/demo_run.py",
        "            self._process.terminate()\n",
        "            return\n",
        tests="tests/cli/test_demo.py -k told_to_end",
    ),
    Fault(
        "demo: the training outlives a killed demo",
        "seq2see/demo_run.py",
        "        os.kill(os.getpid(), signal.SIGTERM)",
        "        pass",
        tests="tests/cli/test_demo.py -k is_killed",
    ),
    Fault(
        "page: Gradio takes files",
        "serve/ui/calls.py",
        'kind.startswith("upload")',
        "False",
        tests="tests/serve/test_request_checks.py -k takes_no_files",
    ),
    Fault(
        "page: an older answer is shown",
        "lens/drawing/explorer.js",
        "    running?.abort();\n    const mine = running = new AbortController(), { signal } = mine, before",
        "    const mine = running = new AbortController(), { signal } = mine, before",
        tests="-m browser tests/serve/ui/test_explore.py -k newer_request",
    ),
    Fault(
        "page: Python's spans are taken for JavaScript's",
        "lens/drawing/trace.js",
        "    return this.once(`places ${side}`, () => [...text].reduce(add, [0]))[n];",
        "    return n;",
        tests="-m browser tests/lens/test_page.py -k basic_plane",
    ),
    Fault(
        "page: what stands in a template is not escaped",
        "lens/drawing/markup.js",
        "ESCAPES[mark])",
        "mark)",
        tests="-m browser tests/lens/test_page.py -k does_not_run",
    ),
    Fault(
        "page: a masked cell is a weight",
        "lens/drawing/trace.js",
        "column.pieces[0] > row.pieces.at(-1)",
        "column.pieces[0] > row.pieces.at(-1) + 1",
        tests="-m browser tests/lens/test_page.py -k cells_are_the_weights",
    ),
    Fault(
        "page: anybody runs the lessons",
        "serve/dialects/lessons.py",
        "if not self.service.settings.run_lessons or not self.service.ready:",
        "if not self.service.ready:",
        tests="tests/serve/ui/test_raw_calls.py -k lessons",
    ),
    Fault(
        "page: a text of any length is looked into by the lab",
        "serve/service.py",
        "        if longest > most:\n",
        "        if False:\n",
        tests="tests/serve/ui/test_raw_calls.py -k other_questions",
    ),
    Fault(
        "lens: the runner-up is the chosen word in another case",
        "lens/evidence.py",
        "if _plain(one.text) != _plain(piece.text)] or others",
        "] or others",
        tests="tests/lens/test_evidence.py",
    ),
    Fault(
        "lens: a head that is switched off hands on nothing",
        "lens/evidence.py",
        'replace="mean", means=means',
        'replace="zero"',
        tests="tests/lens/test_evidence.py -k mean_in_its_place",
    ),
]
