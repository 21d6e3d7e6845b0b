"""All colours.  `trace_page.py` passes them to the page's style sheets and scripts; pictures and lessons import
them."""

from typing import Literal

Theme = Literal["light", "dark"]

# By the name of the CSS variable.
COLOURS: dict[Theme, dict[str, str]] = {
    "light": {
        "page": "#f4f6f9", "card": "#ffffff", "sunk": "#f4f6f9", "ink": "#16202c", "soft": "#55606e", "line": "#e0e5eb",
        "edge": "#8793a2", "blue": "#0b5cad", "orange": "#a8480a", "green": "#0a7359", "slate": "#4a5668",
        "purple": "#7b4fa6", "red": "#b3344a", "blue-t": "#e2edfa", "green-t": "#dcf0e8", "slate-t": "#e9edf2",
        "sel-ink": "#ffffff", "flash": "#fff1b8", "orange-t": "#fbeadf", "ochre": "#73601f", "ochre-t": "#f5eed6",
        "ochre-f": "#b9a05a",
    },
    "dark": {
        "page": "#0d1218", "card": "#161d27", "sunk": "#0f151d", "ink": "#e8edf3", "soft": "#a3afbd", "line": "#2a3542",
        "edge": "#6b7889", "blue": "#7fbcff", "orange": "#f5a566", "green": "#4fd1a9", "slate": "#b7c2d0",
        "purple": "#c3a0ea", "red": "#f0879a", "blue-t": "#17324f", "green-t": "#0f3a30", "slate-t": "#26303c",
        "sel-ink": "#10161e", "flash": "#5b4a12", "orange-t": "#45290f", "ochre": "#dcc67e", "ochre-t": "#37301a",
        "ochre-f": "#a18946",
    },
}
# Four ramps of equal lightness, so that a shade means the same number in each.
RAMPS: dict[Theme, dict[str, list[str]]] = {
    "light": {
        "blue": ["#f2f6fb", "#d9e8fa", "#adcffa", "#7bb0f1", "#438bde", "#1666b9", "#004383", "#01264e"],
        "orange": ["#faf4f1", "#f6e2d6", "#f0c1a5", "#e09a6f", "#c86e30", "#9e4c03", "#6b3100", "#401a00"],
        "green": ["#f2f7f5", "#d9ebe4", "#acd8c7", "#76bda5", "#359e7f", "#04785d", "#01503d", "#002f22"],
        "slate": ["#f5f6f7", "#e3e6ec", "#c5cdda", "#a1adc2", "#7b8aa4", "#586680", "#394458", "#202733"],
    },
    "dark": {
        "blue": ["#1f262e", "#203855", "#214e82", "#2867ae", "#4085d5", "#69a6ef", "#a1cbfe", "#e2eefe"],
        "orange": ["#2c231e", "#4d2e1a", "#743c15", "#9b4e14", "#bf692e", "#dc8d5b", "#f2b998", "#ffe8db"],
        "green": ["#1f2724", "#1d3e33", "#175a47", "#14775e", "#32977a", "#63b69a", "#9fd5c1", "#ddf3ea"],
        "slate": ["#242528", "#323740", "#444d5e", "#5a677d", "#76849d", "#96a4bb", "#bec8d8", "#e9edf4"],
    },
}
# The heads of one layer, distinct for dichromats too; the ninth has the colour of the first, with dashes.
HEADS: dict[Theme, list[str]] = {
    "light": ["#2222ee", "#889900", "#880000", "#bb66ff", "#339966", "#660044", "#dd66bb", "#550088"],
    "dark": ["#88aaff", "#ccbb22", "#ee5577", "#55ffdd", "#8844ee", "#557700", "#aa4499", "#ddff99"],
}


FLOW = 4  # the shade of a ramp that lines of a flow have, on either theme's card


def css_variables(theme: Theme) -> str:
    """The colours of one theme, as declarations; a ramp's own flow is `--blue-f`."""
    flows = {f"{name}-f": ramp[FLOW] for name, ramp in RAMPS[theme].items()}
    return " ".join(f"--{name}: {colour};" for name, colour in (COLOURS[theme] | flows).items())


def css_of_both() -> str:
    """The colours as variables of a whole page, which follow its `color-scheme`."""
    pairs = (f"--{name}: light-dark({light}, {COLOURS['dark'][name]});" for name, light in COLOURS["light"].items())
    return f":root {{ {' '.join(pairs)} }}\n"
