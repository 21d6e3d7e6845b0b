"""Numbers and words that Python and the page decide by; `data.js` has them as RULES.  Imports nothing."""

# --- chances of words
SMOOTHING_FLOOR = 0.01  # share of its probability that a token keeps if it has no more than smoothing gave it
IMPOSSIBLE = -1e4  # the log-probability of an impossible token, which JSON can hold
TEMPERATURES = [2 ** (step / 4 - 3) for step in range(25)]  # 1/8 to 8, four to each doubling, 1 among them
MOST_LOG_ODDS = 500.0  # of a word that nothing competes with
MOST_ODDS = 700.0  # of a hypothesis, in nats: more is no float

# --- what each word depends on
CANDIDATES = 8  # alternatives that are completed for each word
LIKELY = 0.5  # chance of a next token from which a word is completed with it
LONGEST_WORD = 6  # tokens of a word that is completed
MATTERS = 0.1  # by which the chance of a word falls without a head, or a source word, that matters
RARE = 5e-4  # chance of a token below which its text alone decides whether it continues a word
CERTAIN_ODDS = 0.995 / 0.005  # no change beyond them matters

# --- what a pronoun stands for
FRENCH_PRONOUNS = {"il": "m", "ils": "m", "elle": "f", "elles": "f"}
SOURCE_PRONOUNS = ["it", "they"]
OTHER_PRONOUNS = ["he", "she", "him", "her"]  # il and elle may translate these
LEAST_SHARE = 0.5  # of the head's weight on the noun
LEAST_FALL = 20.0  # by which the odds of the pronoun must be divided without the head
SWAPS = 5  # nouns of the other gender that are put in its place: the pronoun must follow most of them

# --- one prediction as a sum
MOST_LAYERS = 12  # of a stack: more cannot be read on one screen
WORDS_COMPARED = 6  # candidates of a step
STRIP = 8  # numbers that a picture has of an embedding
WAVES = 4  # and of a position
NEURONS = 5  # listed of a block, and tokens of each
TOKENS_ON = 3  # where a neuron of the encoder is listed as active
MOST_ROWS = 30  # source tokens up to which the encoder's attention is given row by column, and tokens drawn
LEAST_CHANGE = 0.3  # points of margin from which a head counts as steering a layer

# --- sentences
EARLY_WORDS = 3  # at the start of a sentence, where a pronoun cannot refer to its own sentence
REFERRING_PRONOUNS = {  # of the third person: their translation depends on their antecedent
    "de": "er sie es ihn ihm ihnen",
    "en": "it itself they them themselves",
    "es": "él ella ello ellos ellas",
    "fr": "il ils elle elles lui eux",
}
OPEN_WORDS = (  # after which a sentence must go on
    "a an the of to in on at by for with from and or der die das den dem des ein eine einen einem einer und oder von"
    " mit für im le la les un une des du de et ou dans pour avec el los las una del y con para")
LABELS = "TODO|FIXME|XXX|HACK|BUG|WIP|DEBUG|INFO|NOTE|TIP|WARNING|CAUTION|UPDATE"  # in code and manuals; they stay
COUNTERPARTS = {  # of a plain character: others that are read as it
    "-": "‐‑‒−", "—": "―", "'": "‘’ʼ′´", '"': "“”„″«»", ".": "。", ",": "、،", ";": "؛", "?": "؟"
}
QUOTED = (  # words between single quotation marks; apostrophes are none: 'tis, the '90s, rock 'n' roll, the dogs' house
    r"""(?<=^|[\s(\["“„«—–-])['‘‚](?!(?:[Tt]is|[Tt]was|[Ee]m|[Nn]|[Tt]il|[Cc]ause)[^\p{L}]|\p{Nd}\p{Nd}s?(?![\p{L}\p{N}]))"""
    r"""(?=[^\s'‘’‚])(?:[^\n‘‚]{0,400}?(?<=[\p{L}\p{N}.,!?…;:)\]"”*—–-])(?<!['’][Nn])(?!(?<=s|in)['’]\s[\p{L}\p{N}])"""
    r"""|[^\n‘‚]{0,400}?(?<=s|in))['’‘](?![\p{L}\p{N}])"""
)
ABBREVIATION_LETTERS = 4  # at most, of a word in capitals
SHORT_SOURCE = 64  # tokens; shorter sentences are never split, however short those in training were
SHORTEST_SHARE = 0.6  # of the source's letters: a translation with fewer has lost a clause

# --- warnings of a translation
FAR_SHORTER = 0.4  # of the source's letters beyond the BRIEF: a translation with fewer has lost much of it
BRIEF = 12  # letters of a greeting, whose translation may be of any length
COPIED_LETTERS = 10  # in a script without capitals: a copy of so many is no name
PARTICLES = [  # in names, with small letters: Ludwig van Beethoven
    "af", "al", "av", "bin", "da", "das", "de", "del", "della", "den", "der", "des", "di", "do", "dos", "du", "el",
    "ibn", "la", "las", "le", "les", "lo", "los", "op", "ten", "ter", "und", "van", "von", "zu",
]

RULES = {name: value for name, value in globals().items() if name.isupper()}
