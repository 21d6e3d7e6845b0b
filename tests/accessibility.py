"""Whether everybody can use a page: axe-core's rules, in the page as it stands."""

from axe_playwright_python.sync_playwright import Axe


def violations(tab, *, worst=("serious", "critical"), context=None):
    """What axe-core finds wrong, one line each: the rule, its help, and where."""
    tab.wait_for_function("() => document.getAnimations().every((one) => one.playState !== 'running'"
                          " || one.effect.getTiming().iterations === Infinity)")  # half faded in, nothing has contrast
    options = {"resultTypes": ["violations"]}  # listing what is right too takes several times as long
    found = Axe().run(tab, context=context, options=options).response["violations"]
    return [f"{one['id']}: {one['help']}: {node['html'][:120]} ({node['any'] and node['any'][0]['message']})"
            for one in found if one["impact"] in worst for node in one["nodes"]]
