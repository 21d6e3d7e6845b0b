"""The words of storybook in German and Spanish: nouns, adjectives, main clauses by their verb, and predicates."""

# English: German gender Spanish gender. After a slash, the German noun in the accusative and dative.
NOUNS = """
    cat Katze f gato m|dog Hund m perro m|wolf Wolf m lobo m|bear Bär/Bären m oso m|fox Fuchs m zorro m
    lion Löwe/Löwen m león m|rabbit Kaninchen n conejo m|horse Pferd n caballo m|owl Eule f búho m|duck Ente f pato m
    squirrel Eichhörnchen n ardilla f|monkey Affe/Affen m mono m|donkey Esel m burro m|pig Schwein n cerdo m
    hedgehog Igel m erizo m|lamb Lamm n cordero m|tiger Tiger m tigre m|goat Ziege f cabra f|hen Henne f gallina f
    crow Krähe f cuervo m|mouse Maus f ratón m|cow Kuh f vaca f|frog Frosch m rana f|turtle Schildkröte f tortuga f
    goose Gans f ganso m|giraffe Giraffe f jirafa f|weasel Wiesel n comadreja f|otter Otter m nutria f
    ant Ameise f hormiga f|spider Spinne f araña f|bee Biene f abeja f|panther Panther m pantera f
    boy Junge/Jungen m niño m|girl Mädchen n niña f|man Mann m hombre m|woman Frau f mujer f|king König m rey m
    queen Königin f reina f|farmer Bauer/Bauern m granjero m|baker Bäcker m panadero m|doctor Arzt m médico m
    princess Prinzessin f princesa f|witch Hexe f bruja f|sailor Seemann m marinero m|fisherman Fischer m pescador m
    soldier Soldat/Soldaten m soldado m|nun Nonne f monja f|prince Prinz/Prinzen m príncipe m
    pear Birne f pera f|apple Apfel m manzana f|cake Kuchen m pastel m|loaf Laib m pan m|cheese Käse m queso m
    carrot Karotte f zanahoria f|egg Ei n huevo m|nut Nuss f nuez f|banana Banane f plátano m|cherry Kirsche f cereza f
    biscuit Keks m galleta f|strawberry Erdbeere f fresa f|orange Orange f naranja f|melon Melone f melón m
    lemon Zitrone f limón m|sandwich Sandwich n bocadillo m|tomato Tomate f tomate m
    box Schachtel f caja f|bag Tasche f bolsa f|suitcase Koffer m maleta f|basket Korb m cesta f|crate Kiste f cajón m
    bucket Eimer m cubo m|jug Krug m jarra f|bottle Flasche f botella f|bowl Schüssel f cuenco m|cup Tasse f taza f
    glass Glas n vaso m|pot Topf m olla f|basin Becken n palangana f|barrel Fass n barril m|jar Einmachglas n tarro m
    drawer Schublade f gaveta f|vase Vase f jarrón m|teapot Teekanne f tetera f|chest Truhe f cofre m
    trophy Pokal m trofeo m|tank Tank m tanque m
    table Tisch m mesa f|chair Stuhl m silla f|shelf Regal n estante m|wardrobe Kleiderschrank m armario m
    statue Statue f estatua f|bench Bank f banco m|piano Klavier n piano m|desk Schreibtisch m escritorio m
    stool Hocker m taburete m|bed Bett n cama f|cupboard Schrank m alacena f|armchair Sessel m sillón m
    lamp Lampe f lámpara f|sofa Sofa n sofá m
    wall Mauer f muro m|barn Scheune f granero m|house Haus n casa f|tower Turm m torre f|church Kirche f iglesia f
    castle Schloss n castillo m|mill Mühle f molino m|bridge Brücke f puente m|shed Schuppen m cobertizo m
    garage Garage f garaje m|lighthouse Leuchtturm m faro m|hut Hütte f cabaña f|school Schule f escuela f
    stable Stall m establo m|hedge Hecke f seto m|tree Baum m árbol m|oak Eiche f roble m|fence Zaun m valla f
    hospital Krankenhaus n hospital m|farm Bauernhof m granja f
    field Feld n campo m|forest Wald m bosque m|garden Garten m jardín m|meadow Wiese f pradera f|park Park m parque m
    market Markt m mercado m|island Insel f isla f|village Dorf n pueblo m|beach Strand m playa f|lake See m lago m
    street Straße f calle f|road Landstraße f carretera f|river Fluss m río m|path Weg m camino m|valley Tal n valle m
    ladder Leiter f escalera f|hammer Hammer m martillo m|book Buch n libro m|umbrella Regenschirm m paraguas m
    bicycle Fahrrad n bicicleta f|key Schlüssel m llave f|saw Säge f sierra f|rope Seil n cuerda f|map Karte f mapa m
    hat Hut m sombrero m|scarf Schal m bufanda f|ball Ball m pelota f|knife Messer n cuchillo m|drum Trommel f tambor m
    flute Flöte f flauta f|clock Uhr f reloj m|coat Mantel m abrigo m|shirt Hemd n camisa f|dress Kleid n vestido m
    violin Geige f violín m|picture Bild n cuadro m|mirror Spiegel m espejo m|kite Drachen m cometa f
    doll Puppe f muñeca f|needle Nadel f aguja f|pen Stift m bolígrafo m
    car Auto n coche m|truck Lastwagen m camión m|cart Karren m carro m|boat Boot n barco m|train Zug m tren m
    plane Flugzeug n avión m|bus Bus m autobús m|van Lieferwagen m furgoneta f"""

# English: German stem Spanish masculine.
ADJECTIVES = """
    old alt viejo|young jung joven|beautiful schön hermoso|white weiß blanco|black schwarz negro|grey grau gris
    brown braun marrón|pretty hübsch bonito|red rot rojo|blue blau azul|green grün verde|yellow gelb amarillo
    new neu nuevo|kind nett amable|clever klug inteligente|tired müd cansado"""

# A main clause by its verb, as the families say it (*fit in* only under negation): s subject, o its partner, t what is
# given. In German .nom, .acc and .dat are cases; in Spanish .a and .de are a noun after that preposition, and .o is the
# ending of what agrees with it.
CLAUSES = """
    chase: {s.nom} jagte {o.acc}: {s} persiguió {o.a}
    attack: {s.nom} griff {o.acc} an: {s} atacó {o.a}
    flee from: {s.nom} floh vor {o.dat}: {s} huyó {o.de}
    avoid: {s.nom} mied {o.acc}: {s} evitó {o.a}
    hide from: {s.nom} versteckte sich vor {o.dat}: {s} se escondió {o.de}
    push: {s.nom} schubste {o.acc}: {s} empujó {o.a}
    hit: {s.nom} schlug {o.acc}: {s} golpeó {o.a}
    insult: {s.nom} beleidigte {o.acc}: {s} insultó {o.a}
    passive attack: {s.nom} wurde von {o.dat} angegriffen: {s} fue atacad{s.o} por {o}
    passive push: {s.nom} wurde von {o.dat} geschubst: {s} fue empujad{s.o} por {o}
    passive hit: {s.nom} wurde von {o.dat} geschlagen: {s} fue golpead{s.o} por {o}
    passive insult: {s.nom} wurde von {o.dat} beleidigt: {s} fue insultad{s.o} por {o}
    fit in: {s.nom} passte nicht in {o.acc}: {s} no cabía en {o}
    go into: {s.nom} ging nicht in {o.acc} hinein: {s} no entraba en {o}
    be stuck in: {s.nom} steckte in {o.dat} fest: {s} estaba atascad{s.o} en {o}
    hold: {s.nom} konnte {o.acc} nicht fassen: {s} no podía contener {o}
    contain: {s.nom} konnte {o.acc} nicht aufnehmen: {s} no podía contener {o}
    have no room for: {s.nom} hatte keinen Platz für {o.acc}: {s} no tenía sitio para {o}
    give: {s.nom} gab {o.dat} {t.acc}: {s} le dio {t} {o.a}
    offer: {s.nom} bot {o.dat} {t.acc} an: {s} le ofreció {t} {o.a}
    bring: {s.nom} brachte {o.dat} {t.acc}: {s} le llevó {t} {o.a}
    sell: {s.nom} verkaufte {o.dat} {t.acc}: {s} le vendió {t} {o.a}
    lend: {s.nom} lieh {o.dat} {t.acc}: {s} le prestó {t} {o.a}
    take: {s.nom} nahm {o.dat} {t.acc} weg: {s} le quitó {t} {o.a}
    receive: {s.nom} bekam {t.acc} von {o.dat}: {s} recibió {t} {o.de}
    accept: {s.nom} nahm {t.acc} von {o.dat} an: {s} aceptó {t} {o.de}
    buy: {s.nom} kaufte {t.acc} von {o.dat}: {s} le compró {t} {o.a}
    borrow: {s.nom} lieh sich {t.acc} von {o.dat}: {s} le pidió prestad{t.o} {t} {o.a}
    hide: {s.nom} verbarg {o.acc}: {s} escondía {o}
    conceal: {s.nom} verdeckte {o.acc}: {s} ocultaba {o}
    obscure: {s.nom} verdeckte {o.acc}: {s} tapaba {o}
    protect: {s.nom} schützte {o.acc}: {s} protegía {o}
    shelter: {s.nom} schützte {o.acc}: {s} resguardaba {o}
    passive hide: {s.nom} wurde von {o.dat} verborgen: {s} estaba escondid{s.o} por {o}
    passive conceal: {s.nom} wurde von {o.dat} verdeckt: {s} estaba ocult{s.o} por {o}
    passive obscure: {s.nom} wurde von {o.dat} verdeckt: {s} estaba tapad{s.o} por {o}
    passive protect: {s.nom} wurde von {o.dat} geschützt: {s} estaba protegid{s.o} por {o}
    passive shelter: {s.nom} wurde von {o.dat} geschützt: {s} estaba resguardad{s.o} por {o}
    crush: {s.nom} zerdrückte {o.acc}: {s} aplastó {o}
    flatten: {s.nom} drückte {o.acc} platt: {s} aplanó {o}
    damage: {s.nom} beschädigte {o.acc}: {s} dañó {o}
    collapse under: {s.nom} brach unter {o.dat} zusammen: {s} se hundió bajo {o}
    give way under: {s.nom} gab unter {o.dat} nach: {s} cedió bajo {o}
    crack under: {s.nom} bekam unter {o.dat} Risse: {s} se agrietó bajo {o}
    fill: {s.nom} füllte {o.acc} aus {t.dat}: {s} llenó {o} desde {t}
    empty: {s.nom} leerte {o.acc} in {t.acc}: {s} vació {o} en {t}
    load: {s.nom} belud {o.acc} aus {t.dat}: {s} cargó {o} desde {t}
    unload: {s.nom} entlud {o.acc} in {t.acc}: {s} descargó {o} en {t}
    cross: {s.nom} überquerte {o.acc} nicht: {s} no cruzó {o}
    enter: {s.nom} betrat {o.acc} nicht: {s} no entró en {o}
    leave: {s.nom} verließ {o.acc}: {s} dejó {o}
    carry: {s.nom} trug {o.acc} nicht: {s} no llevó {o}
    lift: {s.nom} hob {o.acc} nicht hoch: {s} no levantó {o}
    alone sleep: {s.nom} schlief: {s} durmió
    alone rest: {s.nom} ruhte sich aus: {s} descansó
    alone stop: {s.nom} hielt an: {s} se detuvo
    alone stay: {s.nom} blieb da: {s} se quedó
    alone eat: {s.nom} fraß: {s} comió
    alone leave: {s.nom} ging weg: {s} se fue
    alone return: {s.nom} kam zurück: {s} volvió
    alone hide: {s.nom} versteckte sich: {s} se escondió"""

# A predicate: German without its verb, the verb, Spanish; ^ stands before what takes a degree.
PREDICATES = """
    be hungry: ^hungrig: war: estaba ^hambrient{o}
    be greedy: ^gierig: war: era ^glot{on}
    wanted to eat: fressen: wollte: quería comer
    be looking for food: nach Futter: suchte: buscaba comida
    have not eaten: nicht gefressen: hatte: no había comido
    be weak: ^schwach: war: era ^débil
    be small: ^klein: war: era ^pequeñ{o}
    be defenceless: wehrlos: war: estaba indefens{o}
    be slow: ^langsam: war: era ^lent{o}
    be alone: allein: war: estaba sol{o}
    be easy to catch: leicht zu fangen: war: era fácil de atrapar
    be big: ^groß: war: era ^grande
    be wide: ^breit: war: era ^anch{o}
    be huge: riesig: war: era enorme
    be narrow: ^eng: war: era ^estrech{o}
    be tiny: winzig: war: era diminut{o}
    have eaten enough: genug gefressen: hatte: había comido bastante
    have already eaten: schon gefressen: hatte: ya había comido
    have just eaten: gerade gefressen: hatte: acababa de comer
    be no longer hungry: nicht mehr hungrig: war: ya no tenía hambre
    have plenty of food: viel Futter: hatte: tenía mucha comida
    be skinny: ^mager: war: estaba ^flac{o}
    wanted food: Futter: wollte: quería comida
    needed food: Futter: brauchte: necesitaba comida
    be high: ^hoch: war: era ^alt{o}
    be tall: ^hoch: war: era ^alt{o}
    be low: ^niedrig: war: era ^baj{o}
    be solid: ^solide: war: era ^sólid{o}
    be sturdy: ^stabil: war: era ^robust{o}
    be made of stone: aus Stein: war: era de piedra
    be made of iron: aus Eisen: war: era de hierro
    be made of glass: aus Glas: war: era de cristal
    be made of cardboard: aus Pappe: war: era de cartón
    be thin: ^dünn: war: era ^delgad{o}
    be fragile: ^zerbrechlich: war: era ^frágil
    be in bad condition: in schlechtem Zustand: war: estaba en mal estado
    be in ruins: verfallen: war: estaba en ruinas
    be heavy: ^schwer: war: era ^pesad{o}
    be massive: wuchtig: war: era maciz{o}
    be badly made: schlecht gemacht: war: estaba mal hech{o}
    be full: ^voll: war: estuvo ^llen{o}
    be empty: ^leer: war: estuvo ^vací{o}
    be generous: ^großzügig: war: era ^generos{o}
    be kind: ^nett: war: era ^amable
    be helpful: ^hilfsbereit: war: era ^servicial
    enjoyed sharing: gern: teilte: disfrutaba compartiendo
    be grateful: ^dankbar: war: estaba ^agradecid{o}
    be touched: ^gerührt: war: estaba ^conmovid{o}
    be lucky: Glück: hatte: tenía suerte
    said thank you: danke: sagte: dio las gracias
    be angry: wütend: war: estaba enfadad{o}
    be furious: zornig: war: estaba furios{o}
    be in a bad mood: schlecht gelaunt: war: estaba de mal humor
    be hated by everyone: allen verhasst: war: era odiad{o} por todos
    be despised by everyone: von allen verachtet: wurde: era despreciad{o} por todos
    be guilty: schuldig: war: era culpable
    be punished: bestraft: wurde: fue castigad{o}
    be scolded: ausgeschimpft: wurde: fue regañad{o}
    be tied up: angebunden: wurde: fue atad{o}
    be tired: ^müde: war: estaba ^cansad{o}
    be lazy: ^faul: war: era ^perezos{o}
    be sick: ^krank: war: estaba ^enferm{o}
    be shy: ^scheu: war: era ^tímid{o}
    be dark: ^dunkel: war: estaba ^oscur{o}
    be flooded: ^überschwemmt: war: estaba ^inundad{o}
    be dangerous: ^gefährlich: war: era ^peligros{o}
    be sad: ^traurig: war: estaba ^triste
    be on fire: in Flammen: stand: estaba en llamas
    be wounded: verletzt: war: estaba herid{o}
    be curious: ^neugierig: war: era ^curios{o}"""
