"""What each attention head does for the pronoun, what its maps suggest, and how far it looks: as tables."""

from collections.abc import Sequence
from typing import Any

from seq2see.lens.heads.role_scores import LEAST, RoleScore
from seq2see.measures.pronoun_heads import Control


def print_roles(report: dict[str, Any]) -> None:
    """The tables of a report on any sentence pairs."""
    print(f"Heads are chosen on {report['sentences']['dev']} sentences and reported on {report['sentences']['test']}"
          " others.\nBrackets: 95 % intervals, by bootstrap over sentences.")
    _print_roles(report["roles"])
    _print_reach([row for row in report["reach"] if row["head"] is None])  # a large model has hundreds of heads


def print_report(report: dict[str, Any]) -> None:
    """Print the tables, negative results included."""
    whole, pronouns = report["whole"], report["pronouns"]
    print("Sentences: storybook's held-out combinations.")
    print(f"  for choosing heads: {report['sentences']['dev']} sentences, {pronouns['dev']} with a pronoun that"
          " depends on two words")
    print(f"  for reporting:      {report['sentences']['test']} others, {pronouns['test']} with such a pronoun\n")
    print("Brackets: 95 % intervals, by bootstrap over sentences. For AUC they reach the exact bound of a perfect"
          " score.\n")
    print("Each head ablated (replaced by its mean). The head with the largest drop comes first.")
    print("  drop     drop of the margin in nats; the margin is log p(right pronoun) - log p(wrong pronoun)")
    print("  AUC      ROC AUC of il against elle (1: always separated; 0.5: chance)")
    print("  right    share of sentences in which the right pronoun is the more probable one, with teacher forcing")
    print("           (plurals included)")
    print(f"  chrF     mean over {report['translated']} greedily translated sentences\n")
    print(f"  {'head':12}  {'drop':23}  {'AUC':20}  {'il right':17}  {'elle right':17}  chrF")
    for row in ({"head": "(whole)", **whole}, *report["heads"]):
        right = "  ".join(f"{_percent(row['right'][name]):17}" for name in ("il", "elle"))
        drop = _figure(row["drop"]) if row["head"] != "(whole)" else "-"
        print(f"  {row['head']!s:12}  {drop:23}  {_figure(row['apart']):20}  {right}  {_figure(row['chrf'], '.1f')}")
    print("\nEach head patched from a sentence with the other pronoun, at all positions up to the prediction of il"
          " or elle.")
    print(f"  il>elle elle>il  share of right pronouns that flip, over {report['pairs']} minimal pairs")
    print(f"  roles            share of attention (baseline); at least {100 * LEAST:.0f} points above the baseline")
    if any(row["supervised"] for row in report["heads"]):
        print("  supervised       the head was trained with gold links")
    print()
    print(f"  {'head':12}  {'il>elle':17}  {'elle>il':17}  roles")
    for row in report["heads"]:
        flips = "  ".join(f"{_percent(row['turned'][name]):17}" for name in ("il", "elle"))
        roles = [f"{one.role} {_percent((one.score, one.low, one.high))} ({_percent(max(one.baselines.values()))})"
                 for one in row["roles"][:3]]
        first, *others = ["supervised"] * row["supervised"] + roles or ["-"]
        print(f"  {row['head']!s:12}  {flips}  {first}", *others, sep="\n" + " " * 54)
    _print_verdict(report)
    _print_roles(report["roles"])
    _print_reach(report["reach"])


def _figure(figure: tuple[float, float, float] | None, form: str = ".3f") -> str:
    if figure is None:
        return "-"
    value, low, high = (f"{part:{form}}".replace("-0.000", "0.000") for part in figure)
    return f"{value} [{low}, {high}]"


def _percent(figure: tuple[float, float, float] | None) -> str:
    return _figure(figure, ".0%")


def _print_verdict(report: dict[str, Any]) -> None:
    needed, enough, largest, whole = (report[name] for name in ("needed", "enough", "largest", "whole"))
    print(f"\nDo a few heads carry the pronoun? Sets of at most {largest} heads, grown greedily on the first half.")
    names = ", ".join(map(str, needed["set"]))
    if needed["holds"]:
        print(f"  Needed: {names}. Without these heads the AUC falls from {_figure(whole['apart'])} to "
              f"{_figure(needed['apart'])};\n  il right {_percent(needed['right']['il'])}, elle"
              f" {_percent(needed['right']['elle'])}.")
    elif whole["apart"].value <= needed["limit"]:
        print(f"  No head is needed: the whole model hardly separates il and elle, AUC {_figure(whole['apart'])}"
              " (0.5: chance).")
    else:
        print(f"  No set of at most {largest} heads is needed: without {names} the AUC is still"
              f" {_figure(needed['apart'])}.")
    _print_controls(needed["controls"], "1 - AUC")
    names = ", ".join(map(str, enough["set"]))
    if enough["holds"]:
        flips = enough["turned"]
        print(f"  Enough: {names}. When these heads are patched from the other sentence,\n  {_percent(flips['il'])}"
              f" of il flip to elle and {_percent(flips['elle'])} of elle to il.")
    else:
        print(f"  No set of at most {largest} heads is enough: {names} flip {_percent(enough['share'])} of pronouns.")
    _print_controls(enough["controls"], "flipped")
    if not needed["holds"] and not enough["holds"]:
        print("  No small set of heads carries the pronoun in this model.")
    elif needed["holds"] and enough["holds"] and set(needed["set"]) != set(enough["set"]):
        print(f"  The two sets differ. The needed set flips {_percent(needed['turned'])} of pronouns when patched."
              f"\n  Without the enough set the AUC is {_figure(enough['apart'])}.")
    shown = [str(one.head) for one in report["roles"] if one.role == "antecedent" and one.holds]
    if (needed["holds"] or enough["holds"]) and not shown:
        print("  Attention does not show these heads: no head has the role `antecedent` (table below).")


ALIKE = {"layers": "same kinds and layers", "kinds": "same kinds, any layer", "any": "any kind and layer"}


def _print_controls(controls: Sequence[Control], what: str) -> None:
    print(f"    {what} of this set: {_figure(controls[0].effect)}. Other sets of the same size (p: rank of this set,"
          " at least 1 / (1 + sets)):")
    for control in controls:
        if control.mean is None or control.most is None:
            print(f"      {ALIKE[control.alike]:22} no other set")
            continue
        sampled = f"{control.draws} sampled from {control.possible:,}"
        tried = f"exact: all {control.possible}" if control.exact else sampled
        tried += ", without this set" if control.overlapping else ""
        p = _figure((control.p, *control.p_ends)) if control.p_ends else f"{control.p:.3f}"
        print(f"      {ALIKE[control.alike]:22} mean {_figure(control.mean)}  most {_figure(control.most)}"
              f"  p {p} ({tried})")


def _print_roles(roles: Sequence[RoleScore]) -> None:
    print("\nThe best head of each role, chosen on the first half. Shares and 95 % intervals are of the second half.")
    print("  uniform     baseline: equal attention to all positions")
    print("  positional  baseline: the best fixed offset")
    print("  rival       baseline: the same head's attention to nouns that are not the antecedent")
    print("Attention only suggests a role.")
    print(f"  {'role':17} {'head':11} {'share':17} {'uniform':14} {'positional':17} {'rival':14}    n holds")
    for role in roles:
        figures = {"share": (role.score, role.low, role.high), **role.baselines}
        columns = " ".join(f"{_percent(figures.get(name)):{width}}" for name, width in
                           (("share", 17), ("uniform", 14), ("positional", 17), ("rival", 14)))
        print(f"  {role.role:17} {role.head!s:11} {columns} {role.sentences:4} {'yes' if role.holds else 'no'}"
              f"{', supervised' if role.supervised else ''}")


REACH = (  # key, column title, number format, column width
    ("distance", "distance", ".2f", 19), ("entropy", "entropy", ".2f", 18), ("evenness", "of uniform's", ".1%", 22),
    ("across", "across", ".2f", 18), ("across_even", "uniform's across", ".2f", 17),
)


def _print_reach(rows: Sequence[dict[str, Any]]) -> None:
    print("\nAttention distance and entropy, as means over each layer and each head:")
    print("  distance          in tokens; of cross-attention, from the diagonal")
    print("  entropy           in nats")
    print("  of uniform's      entropy as a share of the entropy of a uniform head")
    print("  across            in texts of two sentences, attention to the other sentence")
    print("  uniform's across  the same for a uniform head")
    print(f"  {'':12}  " + " ".join(f"{title:{width}}" for _, title, _, width in REACH).rstrip())
    for row in rows:
        name = f"{row['kind']} {row['layer']}" + ("" if row["head"] is None else f".{row['head']}")
        figures = " ".join(f"{_figure(row[key], form):{width}}" for key, _, form, width in REACH)
        print(f"  {name:12}  {figures}".rstrip())
