"""Common nouns by class, adjectives and adverbs of the small English. Many of the words are verbs, too."""

# ruff: noqa: SIM905  (word lists are read as text)
from __future__ import annotations

# Classes that verbs and prepositions select. `word/plural` gives an irregular plural, `word/-` a word without one.
NOUNS: dict[str, list[str]] = {
    "person": """
        teacher doctor student lawyer farmer nurse artist singer driver manager reporter minister officer engineer
        scientist soldier woman/women man/men child/children neighbour guest visitor customer worker tourist judge guard
        guide coach cook pilot host witness expert official veteran adult native leader writer actor editor baker banker
        builder dancer painter player poet priest sailor tailor thief/thieves tenant uncle aunt cousin widow knight monk
        clerk dentist surgeon barber plumber butcher miner mechanic librarian professor analyst broker consultant critic
        candidate voter activist refugee orphan""".split(),
    "group": """
        committee team board government company council party union family/families crew jury/juries army/armies staff
        agency/agencies firm club band commission parliament ministry/ministries court police/- gang public/- crowd
        orchestra association delegation faculty/faculties battalion cooperative""".split(),
    "office": """
        president chairman/chairmen director secretary mayor ambassador captain treasurer governor chief""".split(),
    "thing": """
        table chair window door box key bag bottle clock lamp mirror picture phone computer machine engine bridge house
        wall roof statue toy gift carpet curtain shelf/shelves basket bell blanket bowl candle coin doll drum fence flag
        gate guitar jacket kettle ladder necklace pillow pipe poster ring rope shirt shoe sofa stove tent umbrella vase
        violin wallet wheel bicycle piano watch paint/- glass cup plate building painting drawing model
        mattress chandelier
        trumpet lantern""".split(),
    "vehicle": """
        car truck bus train ship boat plane van taxi/taxis bike tractor ferry/ferries aircraft/aircraft""".split(),
    "text": """
        report book letter article story/stories novel poem paper review message note speech contract law bill statement
        study/studies essay diary/diaries script document list song play joke advertisement newspaper magazine manual
        petition treaty/treaties verdict memo pamphlet manuscript""".split(),
    "food": """
        bread/- soup salad cake fish/fish rice/- cheese apple sandwich pie meal breakfast dinner lunch pizza steak egg
        potato/potatoes tomato/tomatoes chicken pasta/- cookie orange pear stew omelette pudding""".split(),
    "ingredient": """
        butter/- honey/- garlic/- sauce cream/- onions/- pepper/- mushrooms/- basil/- lemon/- vinegar/-""".split(),
    "utensil": "fork spoon knife/knives chopstick ladle spatula".split(),
    "tool": "hammer axe shovel saw stick brick crowbar drill wrench chisel".split(),
    "optic": "telescope camera microscope flashlight periscope".split(),
    "trait": "beard hat scar moustache limp uniform accent smile ponytail tattoo limousine".split(),
    "part": "handle lid garden balcony/balconies chimney engine mirror label frame cover basement".split(),
    "animal": """
        dog cat horse bird sheep/sheep wolf/wolves rabbit lion bear mouse/mice goat duck elephant fox donkey""".split(),
    "place": """
        park city/cities village museum school hospital station hotel restaurant library/libraries market street church
        office airport garden beach island forest river valley theatre factory/factories prison harbour stadium kitchen
        bank square camp cemetery/cemeteries monastery/monasteries warehouse lighthouse orchard suburb""".split(),
    "surface": "table desk shelf/shelves floor counter bench roof wall bed windowsill cupboard drawer".split(),
    "event": """
        meeting concert wedding election trial war strike festival conference race game match exhibition
        ceremony/ceremonies
        debate visit attack protest opening hearing celebration training tournament parade auction funeral march
        workshop seminar rehearsal""".split(),
    "abstract": """
        plan decision problem idea proposal policy/policies project question offer change reform rule budget
        tax agreement
        programme deal promise demand request strategy/strategies scheme theory/theories system design treatment answer
        delay support/- help/- research/- advice/- progress/- strike risk crisis/crises mandate amendment""".split(),
    "measure": """
        price profit income cost rent sale export import number rate temperature share production/- demand
        unemployment/-
        inflation/- debt revenue salary/salaries turnover""".split(),
    "crime": "murder fraud/- theft robbery/robberies bribery/- arson/- treason/- negligence/-".split(),
    "danger": "fire flood storm disease theft wind cold rain enemy/enemies virus drought".split(),
}

ADJECTIVES: dict[str, list[str]] = {
    "person": """
        old young tall famous rich poor happy angry tired kind brave clever honest lazy local foreign retired
        experienced
        wounded excited worried nervous polite stubborn curious jealous modest talented""".split(),
    "thing": """
        new old big small red blue green white black heavy cheap expensive broken beautiful ugly wooden modern huge tiny
        round square empty clean dirty stolen damaged painted rusty fragile elegant antique portable""".split(),
    "abstract": """
        new important difficult final secret early late public private clear strange serious simple daily weekly annual
        national local official controversial proposed planned revised ambitious temporary reckless radical""".split(),
}
CLASS_ADJECTIVES = {
    "person": "person", "group": "person", "office": "abstract", "animal": "person",
    "thing": "thing", "vehicle": "thing",
    "food": "thing", "utensil": "thing", "tool": "thing", "optic": "thing", "trait": "thing", "part": "thing",
    "place": "thing", "surface": "thing",
}  # fmt: skip

MANNER = """
    quickly slowly carefully quietly suddenly easily badly loudly gladly secretly openly bravely politely nervously
    proudly fast hard straight eagerly reluctantly clumsily
""".split()
FREQUENCY = "often never always usually rarely sometimes soon still already recently finally also again once".split()
SENTENCE_ADVERBS = "however meanwhile unfortunately perhaps apparently surprisingly finally therefore".split()
DEGREE = "very quite rather extremely fairly".split()
COMPARED = {"old": "older", "young": "younger", "big": "bigger", "small": "smaller", "cheap": "cheaper",
"rich": "richer",
            "poor": "poorer", "tall": "taller", "happy": "happier", "heavy": "heavier", "clean": "cleaner",
            "fast": "faster", "late": "later", "early": "earlier"}  # fmt: skip
SUPERLATIVE = {"old": "oldest", "young": "youngest", "big": "biggest", "small": "smallest", "cheap": "cheapest",
               "rich": "richest", "tall": "tallest", "heavy": "heaviest", "late": "latest"}  # fmt: skip

# Nouns that take a phrase of their own: noun -> preposition, class of what follows.
RELATIONAL: dict[str, tuple[str, str]] = {
    "report": ("on", "abstract"), "book": ("about", "person"), "story": ("about", "animal"),
    "letter": ("from", "person"),
    "speech": ("about", "abstract"), "study": ("of", "measure"), "article": ("about", "event"), "key": ("to", "place"),
    "picture": ("of", "person"), "statue": ("of", "person"), "price": ("of", "thing"), "rise": ("in", "measure"),
    "change": ("in", "measure"), "question": ("about", "abstract"), "tax": ("on", "food"), "rule": ("for", "person"),
    "debate": ("on", "abstract"), "war": ("with", "named_place"), "roof": ("of", "place"), "attack": ("on", "place"),
    "leader": ("of", "group"), "student": ("of", "law"), "manager": ("of", "place"), "demand": ("for", "food"),
    "research": ("into", "danger"), "song": ("about", "animal"), "visit": ("to", "named_place"),
    "list": ("of", "thing"),
    "agreement": ("with", "group"), "painting": ("of", "place"), "number": ("of", "person"), "deal": ("with", "org"),
    "share": ("of", "org"), "rent": ("for", "place"), "export": ("to", "named_place"), "strike": ("at", "place"),
    "support": ("for", "abstract"), "review": ("of", "text"), "cost": ("of", "food"),
}  # fmt: skip
