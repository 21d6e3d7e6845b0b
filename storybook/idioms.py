"""Idioms, figurative and literal side by side, in French and Hindi: separate from the corpus, for fine-tuning.

In a sentence `|` ends a chunk. Chunks of the two sides are linked in order, or by number where one is written before a
chunk (`3:`); within a pair of chunks every word is linked to every word, since an idiom has its meaning as a whole.
"""

from ..tokenizer.words import split_words
from .phrases import StoryPair

# idiom: English figurative = its translation; English literal = its translation
_FRENCH = """
a piece of cake: It |is |a piece of cake |for |Anna|. = C'|est |du gâteau |pour |Anna|.
; Anna |ate |a |piece |of |cake|. = Anna |a mangé |un |morceau |de |gâteau|.
spill the beans: Tom |spilled the beans |about |the |party|.
= Tom |a vendu la mèche |au sujet de |la |fête|.
; Tom |spilled |the |beans |on the floor|. = Tom |a renversé |les |haricots |par terre|.
kick the bucket: The |1:old |2:king |kicked the bucket|. = Le |1:vieux |2:roi |a cassé sa pipe|.
; The |cow |kicked |the |bucket |in |the |barn|.
= La |vache |a donné un coup de pied dans |le |seau |dans |la |grange|.
rain cats and dogs: It |is raining |cats and dogs|. = Il |pleut |des cordes|.
; It |is raining |on |the |cats |and |the |dogs|. = Il |pleut |sur |les |chats |et |les |chiens|.
cost an arm and a leg: The |car |cost |an arm and a leg|.
= La |voiture |a coûté |les yeux de la tête|.
; The |statue |lost |an |arm |and |a |leg|. = La |statue |a perdu |un |bras |et |une |jambe|.
let the cat out of the bag: Emma |let the cat out of the bag|. = Emma |a vendu la mèche|.
; Emma |let |3:the |8:cat |2:out |of the |bag |in |the |kitchen|.
= Emma |a laissé |2:sortir |3:le |8:chat |du |sac |dans |la |cuisine|.
butterflies in the stomach: Marie |had |butterflies in her stomach |before |the |exam|.
= Marie |avait |le trac |avant |l'|examen|.
; The |frog |had |butterflies |in |its |stomach|.
= La |grenouille |avait |des papillons |dans |le |ventre|.
in hot water: Paul |is |3:in hot water |4:again|.
= Paul |est |4:encore |3:dans le pétrin|.
; The |egg |is |in |the |6:hot |7:water|. = L'|œuf |est |dans |l'|7:eau |6:chaude|.
give a hand: Tom |gave |4:the |5:farmer |3:a hand|. = Tom |a donné |3:un coup de main |4:au |5:fermier|.
; The |painter |gave |5:the |6:statue |4:a |7:hand|.
= Le |peintre |a donné |4:une |7:main |5:à la |6:statue|.
once in a blue moon: He |comes |here |once in a blue moon|.
= Il |vient |ici |tous les trente-six du mois|.
; She |painted |a |4:blue |5:moon|. = Elle |a peint |une |5:lune |4:bleue|.
pull someone's leg: My |brother |3:is pulling |4:my leg|. = Mon |frère |4:me |3:fait marcher|.
; The |dog |3:is pulling |4:my |9:leg |5:with |6:its |7:teeth|8:.
= Le |chien |4:me |3:tire |4:la |9:jambe |5:avec |6:ses |7:dents|8:.
miss the boat: You |missed the boat |yesterday|. = Tu |as raté le coche |hier|.
; The |sailor |missed |the |boat |to |the |island|. = Le |marin |a raté |le |bateau |pour |l'|île|.
a frog in the throat: The |nun |has |a frog |in |her |throat|.
= La |religieuse |a |un chat |dans |la |gorge|.
; The |stork |has |a |frog |in |its |throat|.
= La |cigogne |a |une |grenouille |dans |la |gorge|.
cold feet: The |soldier |got cold feet |before |the |match|.
= Le |soldat |a eu la frousse |avant |le |match|.
; The |soldier |got |5:cold |6:feet |in |the |snow|.
= Le |soldat |a eu |5:froid |6:aux pieds |dans |la |neige|.
a storm in a teacup: It |was |a storm in a teacup|. = C'|était |une tempête dans un verre d'eau|.
; She |painted |a |storm |in |a |teacup|. = Elle |a peint |une |tempête |dans |une |tasse|.
kill two birds with one stone: This |plan |kills two birds with one stone|.
= Ce |plan |fait d'une pierre deux coups|.
; The |boy |killed |two |birds |with |one |8:heavy |9:stone|.
= Le |garçon |a tué |deux |oiseaux |avec |une |9:pierre |8:lourde|.
the apple of my eye: She |is |the apple of my eye|. = Elle |est |la prunelle de mes yeux|.
; She |ate |3:my |4:sister's |5:apple|8:. = Elle |a mangé |4:la |5:pomme |4:de |3:ma |4:sœur|8:.
when pigs fly: He |will work |when pigs fly|. = Il |travaillera |quand les poules auront des dents|.
; He |will paint |the |pigs |that |fly|. = Il |peindra |les |cochons |qui |volent|.
other fish to fry: She |has |other fish to fry|. = Elle |a |d'autres chats à fouetter|.
; She |has |other |fish |in |the |pan|. = Elle |a |d'autres |poissons |dans |la |poêle|.
hit the road: We |hit the road |at |noon|. = Nous |avons pris la route |à |midi|.
; The |stone |hit |the |road|. = La |pierre |a heurté |la |route|.
hit the hay: The |farmer |hit the hay |early|. = Le |fermier |s'est couché |tôt|.
; The |farmer |hit |the |hay |with |a |stick|. = Le |fermier |a frappé |le |foin |avec |un |bâton|.
castles in the air: He |builds |castles in the air|. = Il |bâtit |des châteaux en Espagne|.
; He |builds |castles |in |the |sand|. = Il |bâtit |des châteaux |dans |le |sable|.
a skeleton in the cupboard: Every |family |has |a skeleton in the cupboard|.
= Chaque |famille |a |un cadavre dans le placard|.
; The |doctor |has |a |skeleton |in |the |cupboard|.
= Le |médecin |a |un |squelette |dans |le |placard|.
Greek to me: This |book |is |Greek |to |me|. = Ce |livre |est |du chinois |pour |moi|.
; This |book |is |Greek|. = Ce |livre |est |grec|.
"""
_HINDI = """
a piece of cake: The exam |2:was |3:a piece of cake|. = परीक्षा |3:बाएँ हाथ का खेल |2:थी|।
; The girl |2:ate |3:a |4:piece |5:of |6:cake|. = लड़की ने |6:केक |5:का |3:एक |4:टुकड़ा |2:खाया|।
add fuel to the fire: His |words |added fuel to the fire|. = उसकी |बातों ने |आग में घी डाल दिया|।
; The cook |2:added |3:fuel |4:to |5:the fire |6:under |7:the pot|.
= रसोइए ने |7:बर्तन |6:के नीचे की |5:आग |4:में |3:ईंधन |2:डाला|।
the apple of my eye: My |son |3:is |4:the apple of my eye|.
= मेरा |बेटा |4:मेरी आँखों का तारा |3:है|।
; My |son |3:ate |4:my |5:neighbour's |6:apple|7:.
= मेरे |बेटे ने |4:मेरे |5:पड़ोसी का |6:सेब |3:खाया|7:।
kill two birds with one stone: 1:With |2:this |3:plan |4:we |kill two birds with one stone|.
= 2:इस |3:योजना |1:से |4:हम |एक तीर से दो निशाने साधते हैं|।
; The hunter |2:killed |3:two |4:birds |5:with |6:one |7:stone|.
= शिकारी ने |6:एक |7:पत्थर |5:से |3:दो |4:चिड़ियाँ |2:मारीं|।
keep an eye on: The mother |2:keeps an eye on |3:the children|. = माँ |3:बच्चों |2:पर नज़र रखती है|।
; The doctor |2:keeps |3:a |4:glass |5:eye |6:on |7:the table|.
= डॉक्टर |7:मेज़ |6:पर |4:काँच की |3:एक |5:आँख |2:रखता है|।
turn a blind eye: The king |2:turned a blind eye |3:to |4:the theft|.
= राजा ने |4:चोरी |3:की ओर से |2:आँखें मूँद लीं|।
; The old |dog |3:turned |4:its |5:blind |6:eye |7:to |8:the wall|.
= बूढ़े |कुत्ते ने |4:अपनी |5:अंधी |6:आँख |8:दीवार |7:की ओर |3:घुमाई|।
pull someone's leg: My |brother |3:is pulling |4:my |5:leg|.
= मेरा |भाई |4:मेरी |5:टाँग |3:खींच रहा है|।
; The dog |2:is pulling |3:my |4:leg |5:with |6:its |7:teeth|.
= कुत्ता |6:अपने |7:दाँतों |5:से |3:मेरी |4:टाँग |2:खींच रहा है|।
once in a blue moon: He |is seen once in a blue moon|. = वह |ईद का चाँद हो गया है|।
; She |2:painted |3:a |4:blue |5:moon|. = उसने |3:एक |4:नीला |5:चाँद |2:बनाया|।
rain cats and dogs: 1:It is raining |2:cats and dogs|. = 2:मूसलाधार |1:बारिश हो रही है|।
; 1:It is raining |2:on |3:the cats |4:and |5:the dogs|.
= 3:बिल्लियों |4:और |5:कुत्तों |2:पर |1:बारिश हो रही है|।
a drop in the ocean: Our |money |3:is |4:a drop in the ocean|.
= हमारा |पैसा |4:ऊँट के मुँह में जीरा |3:है|।
; 1:A |2:drop |3:fell |4:in |5:the ocean|. = 5:समुद्र |4:में |1:एक |2:बूँद |3:गिरी|।
on cloud nine: Anna |2:is |3:on cloud nine|. = अन्ना |3:सातवें आसमान पर |2:है|।
; 1:In |2:the game|8:, |3:the cat |4:is |5:on |6:cloud |7:nine|9:.
= 2:खेल |1:में|8:, |3:बिल्ली |7:नौवें |6:बादल |5:पर |4:है|9:।
Greek to me: This |book |3:is |4:Greek |5:to |6:me|.
= यह |किताब |6:मेरे |5:लिए |4:काला अक्षर भैंस बराबर |3:है|।
; This |book |3:is |4:Greek|. = यह |किताब |4:यूनानी |3:है|।
kick the bucket: The old |king |kicked the bucket|. = बूढ़ा |राजा |चल बसा|।
; The cow |2:kicked |3:the bucket |4:in |5:the barn|.
= गाय ने |5:खलिहान |4:में |3:बाल्टी को |2:लात मारी|।
cost an arm and a leg: The car |cost an arm and a leg|. = गाड़ी ने |जेब ढीली कर दी|।
; The statue |2:lost |3:an |4:arm |5:and |6:a |7:leg|.
= मूर्ति ने |3:एक |4:बाँह |5:और |6:एक |7:टाँग |2:खो दी|।
let the cat out of the bag: Emma |2:let the cat out of the bag |3:about |4:the wedding|.
= एमा ने |4:शादी |3:का |2:भंडा फोड़ दिया|।
; Emma |2:let |3:the cat |4:out of |5:the bag |6:in |7:the kitchen|.
= एमा ने |7:रसोई |6:में |3:बिल्ली को |5:थैले |4:से बाहर |2:निकाला|।
spilt milk: There is no use crying over spilt milk|. = अब पछताए होत क्या जब चिड़िया चुग गई खेत|।
; The child |2:is crying |3:over |4:the spilt |5:milk|.
= बच्चा |4:गिरे हुए |5:दूध |3:पर |2:रो रहा है|।
castles in the air: He |2:builds |3:castles |4:in the air|. = वह |4:हवाई |3:किले |2:बनाता है|।
; He |2:builds |3:castles |4:in |5:the sand|. = वह |5:रेत |4:में |3:किले |2:बनाता है|।
cold feet: 1:He |2:got cold feet |3:before |4:the exam|.
= 4:परीक्षा |3:से पहले |1:उसके |2:हाथ-पाँव फूल गए|।
; 1:He |2:got |3:cold |4:feet |5:in |6:the snow|. = 6:बर्फ़ |5:में |1:उसके |4:पैर |3:ठंडे |2:हो गए|।
a snake in the grass: That |friend |3:is |4:a snake in the grass|.
= वह |दोस्त |4:आस्तीन का साँप |3:है|।
; 1:There is |2:a |3:snake |4:in |5:the grass|. = 5:घास |4:में |2:एक |3:साँप |1:है|।
a bed of roses: Life |2:is |3:not |4:a bed of roses|. = ज़िंदगी |4:फूलों की सेज |3:नहीं |2:है|।
; The cat |2:slept |3:in |4:a bed |5:of |6:roses|.
= बिल्ली |6:गुलाबों |5:की |4:क्यारी |3:में |2:सोई|।
"""


def _chunks(marked: str, language: str) -> tuple[str, list[str]]:
    """The sentence and, for each of its words, the name of its chunk."""
    text, names, ends = "", [], []
    for order, chunk in enumerate(marked.split("|")):
        number, colon, rest = chunk.partition(":")
        numbered = bool(colon) and number.strip().isdigit()
        text += rest if numbered else chunk
        names.append(f"={number.strip()}" if numbered else str(order))
        ends.append(len(text))
    return text, [
        next(name for name, end in zip(names, ends, strict=True) if word.start < end)
        for word in split_words(text, language=language)
    ]


def _pair(line: str, language: str, idiom: str, *, figurative: bool) -> StoryPair:
    source, target = (side.strip() for side in line.split("="))
    english, names = _chunks(source, "en")
    translation, others = _chunks(target, language)
    links = tuple((i, j) for i, one in enumerate(names) for j, other in enumerate(others) if one == other)
    return StoryPair(
        source=english, target=translation, family="figurative" if figurative else "literal", kind="idiom", links=links,
        contrast_key=f"{language}/{idiom}", length=max(len(names), len(others)), target_language=language,
    )  # fmt: skip


def idioms() -> tuple[StoryPair, ...]:
    """Two sentences for each idiom and language: the figurative one, and a literal one in nearly the same words."""
    pairs = []
    for language, table in (("fr", _FRENCH), ("hi", _HINDI)):
        for entry in table.strip().replace("\n;", ";").replace("\n=", "=").split("\n"):
            head, literal = entry.split(";")
            idiom, _, figurative = head.partition(":")
            pairs.append(_pair(figurative, language, idiom, figurative=True))
            pairs.append(_pair(literal, language, idiom, figurative=False))
    return tuple(pairs)
