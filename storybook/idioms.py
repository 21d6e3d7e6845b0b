"""Idioms, figurative and literal side by side, in French and Hindi: separate from the corpus, for fine-tuning.

In a sentence `|` ends a chunk. Chunks of the two sides are linked in order, or by number where one is written before a
chunk (`3:`); within a pair of chunks every word is linked to every word, since an idiom has its meaning as a whole.
The full stop is not written.
"""

from ..tokenizer.words import split_words
from .phrases import StoryPair

# idiom: English figurative = its translation
# ; English literal = its translation
_FRENCH = """
a piece of cake: It |is |a piece of cake |for |Anna = C'|est |du gâteau |pour |Anna
; Anna |ate |a |piece |of |cake = Anna |a mangé |un |morceau |de |gâteau
spill the beans: Tom |spilled the beans |about |the |party = Tom |a vendu la mèche |au sujet de |la |fête
; Tom |spilled |the |beans |on the floor = Tom |a renversé |les |haricots |par terre
kick the bucket: The |old |king |kicked the bucket = Le |vieux |roi |a cassé sa pipe
; The |cow |kicked |the |bucket |in |the |barn = La |vache |a donné un coup de pied dans |le |seau |dans |la |grange
rain cats and dogs: It |is raining |cats and dogs = Il |pleut |des cordes
; It |is raining |on |the |cats |and |the |dogs = Il |pleut |sur |les |chats |et |les |chiens
cost an arm and a leg: The |car |cost |an arm and a leg = La |voiture |a coûté |les yeux de la tête
; The |statue |lost |an |arm |and |a |leg = La |statue |a perdu |un |bras |et |une |jambe
let the cat out of the bag: Emma |let the cat out of the bag = Emma |a vendu la mèche
; Emma |let |1:the |2:cat |3:out |of the |bag |in |the |kitchen
= Emma |a laissé |3:sortir |1:le |2:chat |du |sac |dans |la |cuisine
butterflies in the stomach: Marie |had |butterflies in her stomach |before |the |exam
= Marie |avait |le trac |avant |l'|examen
; The |frog |had |butterflies |in |its |stomach = La |grenouille |avait |des papillons |dans |le |ventre
in hot water: Paul |is |1:in hot water |2:again = Paul |est |2:encore |1:dans le pétrin
; The |egg |is |in |the |1:hot |2:water = L'|œuf |est |dans |l'|2:eau |1:chaude
give a hand: Tom |gave |1:the |2:farmer |3:a hand = Tom |a donné |3:un coup de main |1:au |2:fermier
; The |painter |gave |1:the |2:statue |3:a |4:hand = Le |peintre |a donné |3:une |4:main |1:à la |2:statue
once in a blue moon: He |comes |here |once in a blue moon = Il |vient |ici |tous les trente-six du mois
; She |painted |a |1:blue |2:moon = Elle |a peint |une |2:lune |1:bleue
pull someone's leg: My |brother |1:is pulling |2:my leg = Mon |frère |2:me |1:fait marcher
; The |dog |1:is pulling |2:my |3:leg |4:with |5:its |6:teeth
= Le |chien |2:me |1:tire |2:la |3:jambe |4:avec |5:ses |6:dents
miss the boat: You |missed the boat |yesterday = Tu |as raté le coche |hier
; The |sailor |missed |the |boat |to |the |island = Le |marin |a raté |le |bateau |pour |l'|île
a frog in the throat: The |nun |has |a frog |in |her |throat = La |religieuse |a |un chat |dans |la |gorge
; The |stork |has |a |frog |in |its |throat = La |cigogne |a |une |grenouille |dans |la |gorge
cold feet: The |soldier |got cold feet |before |the |match = Le |soldat |a eu la frousse |avant |le |match
; The |soldier |got |cold |feet |in |the |snow = Le |soldat |a eu |froid |aux pieds |dans |la |neige
a storm in a teacup: It |was |a storm in a teacup = C'|était |une tempête dans un verre d'eau
; She |painted |a |storm |in |a |teacup = Elle |a peint |une |tempête |dans |une |tasse
kill two birds with one stone: This |plan |kills two birds with one stone = Ce |plan |fait d'une pierre deux coups
; The |boy |killed |two |birds |with |one |1:heavy |2:stone
= Le |garçon |a tué |deux |oiseaux |avec |une |2:pierre |1:lourde
the apple of my eye: She |is |the apple of my eye = Elle |est |la prunelle de mes yeux
; She |ate |1:my |2:sister's |3:apple = Elle |a mangé |2:la |3:pomme |2:de |1:ma |2:sœur
when pigs fly: He |will work |when pigs fly = Il |travaillera |quand les poules auront des dents
; He |will paint |the |pigs |that |fly = Il |peindra |les |cochons |qui |volent
other fish to fry: She |has |other fish to fry = Elle |a |d'autres chats à fouetter
; She |has |other |fish |in |the |pan = Elle |a |d'autres |poissons |dans |la |poêle
hit the road: We |hit the road |at |noon = Nous |avons pris la route |à |midi
; The |stone |hit |the |road = La |pierre |a heurté |la |route
hit the hay: The |farmer |hit the hay |early = Le |fermier |s'est couché |tôt
; The |farmer |hit |the |hay |with |a |stick = Le |fermier |a frappé |le |foin |avec |un |bâton
castles in the air: He |builds |castles in the air = Il |bâtit |des châteaux en Espagne
; He |builds |castles |in |the |sand = Il |bâtit |des châteaux |dans |le |sable
a skeleton in the cupboard: Every |family |has |a skeleton in the cupboard
= Chaque |famille |a |un cadavre dans le placard
; The |doctor |has |a |skeleton |in |the |cupboard = Le |médecin |a |un |squelette |dans |le |placard
Greek to me: This |book |is |Greek |to |me = Ce |livre |est |du chinois |pour |moi
; This |book |is |Greek = Ce |livre |est |grec"""
_HINDI = """
a piece of cake: The exam |1:was |2:a piece of cake = परीक्षा |2:बाएँ हाथ का खेल |1:थी
; The girl |1:ate |2:a |3:piece |4:of |5:cake = लड़की ने |5:केक |4:का |2:एक |3:टुकड़ा |1:खाया
add fuel to the fire: His |words |added fuel to the fire = उसकी |बातों ने |आग में घी डाल दिया
; The cook |1:added |2:fuel |3:to |4:the fire |5:under |6:the pot
= रसोइए ने |6:बर्तन |5:के नीचे की |4:आग |3:में |2:ईंधन |1:डाला
the apple of my eye: My |son |1:is |2:the apple of my eye = मेरा |बेटा |2:मेरी आँखों का तारा |1:है
; My |son |1:ate |2:my |3:neighbour's |4:apple = मेरे |बेटे ने |2:मेरे |3:पड़ोसी का |4:सेब |1:खाया
kill two birds with one stone: 1:With |2:this |3:plan |we |kill two birds with one stone
= 2:इस |3:योजना |1:से |हम |एक तीर से दो निशाने साधते हैं
; The hunter |1:killed |2:two |3:birds |4:with |5:one |6:stone
= शिकारी ने |5:एक |6:पत्थर |4:से |2:दो |3:चिड़ियाँ |1:मारीं
keep an eye on: The mother |1:keeps an eye on |2:the children = माँ |2:बच्चों |1:पर नज़र रखती है
; The doctor |1:keeps |2:a |glass |3:eye |4:on |5:the table = डॉक्टर |5:मेज़ |4:पर |काँच की |2:एक |3:आँख |1:रखता है
turn a blind eye: The king |1:turned a blind eye |to |2:the theft = राजा ने |2:चोरी |की ओर से |1:आँखें मूँद लीं
; The old |dog |1:turned |2:its |3:blind |4:eye |to |5:the wall
= बूढ़े |कुत्ते ने |2:अपनी |3:अंधी |4:आँख |5:दीवार |की ओर |1:घुमाई
pull someone's leg: My |brother |1:is pulling |2:my |3:leg = मेरा |भाई |2:मेरी |3:टाँग |1:खींच रहा है
; The dog |1:is pulling |2:my |3:leg |4:with |5:its |6:teeth
= कुत्ता |5:अपने |6:दाँतों |4:से |2:मेरी |3:टाँग |1:खींच रहा है
once in a blue moon: He |is seen once in a blue moon = वह |ईद का चाँद हो गया है
; She |1:painted |2:a |3:blue |4:moon = उसने |2:एक |3:नीला |4:चाँद |1:बनाया
rain cats and dogs: 1:It is raining |2:cats and dogs = 2:मूसलाधार |1:बारिश हो रही है
; 1:It is raining |2:on |3:the cats |4:and |5:the dogs = 3:बिल्लियों |4:और |5:कुत्तों |2:पर |1:बारिश हो रही है
a drop in the ocean: Our |money |1:is |2:a drop in the ocean = हमारा |पैसा |2:ऊँट के मुँह में जीरा |1:है
; 1:A |2:drop |3:fell |4:in |5:the ocean = 5:समुद्र |4:में |1:एक |2:बूँद |3:गिरी
on cloud nine: Anna |1:is |2:on cloud nine = अन्ना |2:सातवें आसमान पर |1:है
; 1:In |2:the game|, |the cat |3:is |4:on |5:cloud |6:nine = 2:खेल |1:में|, |बिल्ली |6:नौवें |5:बादल |4:पर |3:है
Greek to me: This |book |1:is |2:Greek |3:to |4:me = यह |किताब |4:मेरे |3:लिए |2:काला अक्षर भैंस बराबर |1:है
; This |book |1:is |2:Greek = यह |किताब |2:यूनानी |1:है
kick the bucket: The old |king |kicked the bucket = बूढ़ा |राजा |चल बसा
; The cow |1:kicked |2:the bucket |3:in |4:the barn = गाय ने |4:खलिहान |3:में |2:बाल्टी को |1:लात मारी
cost an arm and a leg: The car |cost an arm and a leg = गाड़ी ने |जेब ढीली कर दी
; The statue |1:lost |2:an |3:arm |4:and |5:a |6:leg = मूर्ति ने |2:एक |3:बाँह |4:और |5:एक |6:टाँग |1:खो दी
let the cat out of the bag: Emma |1:let the cat out of the bag |about |2:the wedding
= एमा ने |2:शादी |का |1:भंडा फोड़ दिया
; Emma |1:let |2:the cat |3:out of |the bag |4:in |5:the kitchen
= एमा ने |5:रसोई |4:में |2:बिल्ली को |थैले |3:से बाहर |1:निकाला
spilt milk: There is no use crying over spilt milk = अब पछताए होत क्या जब चिड़िया चुग गई खेत
; The child |1:is crying |2:over |3:the spilt |4:milk = बच्चा |3:गिरे हुए |4:दूध |2:पर |1:रो रहा है
castles in the air: He |1:builds |castles |2:in the air = वह |2:हवाई |किले |1:बनाता है
; He |1:builds |2:castles |3:in |4:the sand = वह |4:रेत |3:में |2:किले |1:बनाता है
cold feet: 1:He |2:got cold feet |3:before |4:the exam = 4:परीक्षा |3:से पहले |1:उसके |2:हाथ-पाँव फूल गए
; 1:He |2:got |3:cold |feet |4:in |5:the snow = 5:बर्फ़ |4:में |1:उसके |पैर |3:ठंडे |2:हो गए
a snake in the grass: That |friend |1:is |2:a snake in the grass = वह |दोस्त |2:आस्तीन का साँप |1:है
; 1:There is |2:a |3:snake |4:in |5:the grass = 5:घास |4:में |2:एक |3:साँप |1:है
a bed of roses: Life |1:is |not |2:a bed of roses = ज़िंदगी |2:फूलों की सेज |नहीं |1:है
; The cat |1:slept |2:in |a bed |3:of |4:roses = बिल्ली |4:गुलाबों |3:की |क्यारी |2:में |1:सोई"""


def _chunks(marked: str, language: str) -> tuple[str, list[str]]:
    """The sentence and, for each of its words, the name of its chunk."""
    text, ends = "", []
    for order, chunk in enumerate(marked.split("|")):
        *number, rest = chunk.split(":")
        text += rest
        ends.append((len(text), number[0] if number else f"in order {order}"))
    text += "।" if language == "hi" else "."
    ends.append((len(text), "stop"))
    words = split_words(text, language=language)
    return text, [next(name for end, name in ends if word.start < end) for word in words]


def _pair(line: str, language: str, idiom: str, family: str) -> StoryPair:
    source, target = line.split(" = ")
    english, names = _chunks(source, "en")
    translation, others = _chunks(target, language)
    links = tuple((i, j) for i, one in enumerate(names) for j, other in enumerate(others) if one == other)
    return StoryPair(
        source=english, target=translation, family=family, kind="idiom", links=links, target_language=language,
        contrast_key=f"{language}/{idiom}", length=max(len(names), len(others)),
    )


def idioms() -> tuple[StoryPair, ...]:
    """Two sentences for each idiom and language: the figurative one, and a literal one in nearly the same words."""
    pairs = []
    for language, table in (("fr", _FRENCH), ("hi", _HINDI)):
        lines = table.strip().replace("\n=", " =").split("\n")
        for first, literal in zip(lines[::2], lines[1::2], strict=True):
            idiom, _, figurative = first.partition(": ")
            pairs.append(_pair(figurative, language, idiom, "figurative"))
            pairs.append(_pair(literal.removeprefix("; "), language, idiom, "literal"))
    return tuple(pairs)
