"""Faults of the page: who waits for whom, what a browser sends back, the demo's training, words in their places."""

from . import Fault

FAULTS = [
    Fault(
        "page: who leaves the line keeps a place",
        "serve/ui/asking.py",
        "                self._waiting.remove(mine)\n",
        "                pass\n",
        tests="tests/serve/ui/test_asking.py -k leaves_the_line",
    ),
    Fault(
        "page: a turn is lost with who had it",
        "serve/ui/asking.py",
        "                self.leave()  # it was one's turn, and one is gone\n",
        "                pass\n",
        tests="tests/serve/ui/test_asking.py -k hands_it_on",
    ),
    Fault(
        "page: a newer request leaves the older at work",
        "serve/ui/asking.py",
        "        self.stop(visit, n - 1)\n",
        "",
        tests="tests/serve/ui/test_asking.py -k ends_the_older",
    ),
    Fault(
        "page: ids of any size are looked into",
        "serve/ui/shown.py",
        "if not all(0 <= id < pieces",
        "if not all(0 <= id",
        tests="tests/serve/ui/test_asking.py -k outside_the_vocabulary",
    ),
    Fault(
        "page: a prefix may end a translation",
        "serve/translator.py",
        " and id not in end for ids in prefix",
        " for ids in prefix",
        tests="tests/serve/ui/test_raw_calls.py -k question",
    ),
    Fault(
        "page: anybody runs the lessons",
        "serve/ui/learn_tab.py",
        "if not service.settings.run_lessons or not service.ready:",
        "if not service.ready:",
        tests="tests/serve/ui/test_raw_calls.py -k lessons",
    ),
    Fault(
        "page: Python's spans are taken for JavaScript's",
        "serve/ui/components/words.js",
        "const points = Array.from(text), runs = [];",
        "const points = text.split(''), runs = [];",
        tests="-m browser tests/serve/ui/test_translate.py -k emoji",
    ),
    Fault(
        "page: an older answer is shown",
        "serve/ui/components/translation.js",
        "if (!answer || answer.n !== asked) return;",
        "if (!answer) return;",
        tests="-m browser tests/serve/ui/test_translate.py -k older_answer",
    ),
    Fault(
        "lens: a move is named by the row after alone",
        "lens/moved.py",
        "int(moved_LHR[layer, head].argmax())",
        "int(moved_LHR[layer, head].argmin())",
        tests="tests/lens/test_moved.py -k changed_most",
    ),
    Fault(
        "lens: the best known choice is the worst",
        "lens/counterparts.py",
        "best = min(measured",
        "best = max(measured",
        tests="tests/lens/test_counterparts.py -k goes_before",
    ),
    Fault(
        "demo: the training outlives it",
        "seq2see/learning.py",
        "            self._process.terminate()\n",
        "            return\n",
        tests="tests/package/test_demo.py -k told_to_end",
    ),
    Fault(
        "demo: the training outlives a killed demo",
        "seq2see/learning.py",
        "        os.kill(os.getpid(), signal.SIGTERM)",
        "        pass",
        tests="tests/package/test_demo.py -k is_killed",
    ),
]
