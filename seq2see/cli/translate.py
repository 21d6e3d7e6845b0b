"""The verb `translate`: files, or standard input to standard output line by line; everything else on stderr.

`document_files.py` translates documents, `line_files.py` files of lines; all three get the output from
`TranslationRequest`. """

import argparse
import sys

from seq2see.cli.lines import line_by_line, stdin, windows
from seq2see.cli.translating.file_report import print_remarks, write_report
from seq2see.cli.translating.request import TranslationRequest, check
from seq2see.translate.remarks import Doubts, Remarks
from seq2see.translate.segment_translator import check_text


def run(args: argparse.Namespace) -> None:
    """`args.run` and `args.files`; the options are those of `request.py` and `document_files.py`.

    From standard input, whatever has arrived is translated immediately: a slow writer at the other end of a pipe sees
    its lines come back, and a file goes through in large batches.  At the end stderr says how many lines are doubtful.
    """
    check(args)
    if args.files:
        from seq2see.cli.translating.document_files import translate_files  # which standard input does not wait for

        translate_files(args)
        return
    groups = windows(stdin(), check_text)
    request = TranslationRequest.of(args)
    remarks = Remarks("lines")
    for lines in groups:
        for (number, text), (results, line) in zip(lines, line_by_line(request.translated, lines), strict=True):
            sys.stdout.write(line + "\n")
            remarks.note(number, Doubts.of(results), text=text, translation=line)
        sys.stdout.flush()
    print_remarks(remarks, source=request.source)
    if args.report:
        write_report(args.report, [remarks.record()])


