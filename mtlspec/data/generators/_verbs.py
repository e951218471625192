"""Verbs of the small English: what each group takes, and which role it gives."""

# ruff: noqa: SIM905  (word lists are read as text)
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Slot:
    """A complement: `kind` np, pp, particle, that or to; `wants` is a noun class, or the particle itself."""

    kind: str
    wants: str = ""
    role: str = ""
    preposition: str = ""


@dataclass(frozen=True)
class Pattern:
    """A group of verbs with the same frame."""

    name: str
    verbs: tuple[str, ...]
    subject: str  # noun class
    subject_role: str
    slots: tuple[Slot, ...] = ()
    attach: str = "verb"  # where a following place phrase belongs: verb or noun
    weight: float = 1.0

    @property
    def transitive(self) -> bool:
        return bool(self.slots) and self.slots[0].kind == "np"


def _np(wants: str, role: str = "ARG1") -> Slot:
    return Slot("np", wants, role)


def _pp(preposition: str, wants: str, role: str = "ARG2") -> Slot:
    return Slot("pp", wants, role, preposition)


def _pattern(name: str, verbs: str, subject: str, *slots: Slot, role: str = "ARG0", **more: object) -> Pattern:
    return Pattern(name, tuple(verbs.split()), subject, role, slots, **more)  # type: ignore[arg-type]


PATTERNS: tuple[Pattern, ...] = (
    _pattern("see", "see watch notice observe spot photograph spy follow", "person", _np("seen"), weight=1.5),
    _pattern("meet", "meet thank praise invite help blame greet admire hug question address", "person", _np("person")),
    _pattern("hit", "hit cut break smash open repair damage scratch pierce", "person", _np("thing"), weight=1.2),
    _pattern("make", "build design paint produce create assemble model", "agent", _np("thing")),
    _pattern("eat", "eat cook prepare serve taste order devour", "person", _np("food"), weight=1.2),
    _pattern("write", "write publish edit translate review study read print draft", "person", _np("text"), weight=1.3),
    _pattern("own", "own want need like love prefer admire covet", "person", _np("thing"), attach="noun", weight=1.3),
    _pattern("buy", "buy sell rent steal", "agent", _np("goods"), weight=1.2),
    _pattern("trade", "buy steal borrow", "person", _np("goods"), _pp("from", "person")),
    _pattern("give", "give send offer lend show hand", "agent", _np("goods"), _pp("to", "person"), weight=2.5),
    _pattern("put", "put place hide keep leave store", "person", _np("thing"), _pp("on", "surface"), weight=1.2),
    _pattern("go", "go travel walk drive fly run return hurry march", "person", _pp("to", "place", "ARG4"), weight=1.4),
    _pattern("fall", "fall rise drop grow increase decline climb", "measure", _pp("by", "amount"), role="ARG1"),
    _pattern("sleep", "sleep laugh smile cry cough sing dance shout sneeze yawn", "person"),
    _pattern("happen", "happen occur begin end start continue", "event", role="ARG1"),
    _pattern("arrive", "arrive appear vanish", "person", role="ARG1"),
    _pattern("live", "live work stay remain reside", "person", _pp("in", "place", "ARGM-LOC")),
    _pattern(
        "say",
        "say claim argue believe think report announce know insist",
        "agent",
        Slot("that", role="ARG1"),
        weight=2.2,
    ),
    _pattern("tell", "tell warn remind inform assure", "agent", _np("person", "ARG2"), Slot("that", role="ARG1")),
    _pattern(
        "try", "want try plan hope decide refuse agree promise need", "agent", Slot("to", role="ARG1"), weight=2.5
    ),
    _pattern(
        "urge", "ask order urge persuade allow", "agent", _np("person", "ARG1"), Slot("to", role="ARG2"), weight=1.6
    ),
    _pattern("appoint", "appoint elect name hire", "org", _np("person"), _pp("as", "office")),
    _pattern("acquire", "acquire sue join found launch", "agent", _np("org"), weight=1.2),
    _pattern("earn", "report announce post", "org", _np("measure")),
    _pattern("visit", "visit leave reach cross invade", "agent", _np("named_place")),
    _pattern("organise", "organise cancel attend postpone plan host delay", "agent", _np("event"), weight=1.3),
    _pattern(
        "discuss",
        "discuss support oppose reject approve consider change criticise",
        "agent",
        _np("abstract"),
        weight=1.3,
    ),
    _pattern("lead", "lead run manage direct chair", "person", _np("group")),
    _pattern("feed", "feed chase catch train bite ride", "person", _np("animal")),
    _pattern("accuse", "accuse suspect acquit", "agent", _np("person"), _pp("of", "crime")),
    _pattern("charge", "charge", "agent", _np("person"), _pp("with", "crime")),
    _pattern("protect", "protect save rescue shield", "agent", _np("place"), _pp("from", "danger")),
    _pattern("provide", "provide supply", "agent", _np("person"), _pp("with", "goods")),
    _pattern("replace", "replace", "person", _np("thing"), _pp("with", "thing")),
    _pattern("turn_down", "turn", "agent", Slot("particle", "down"), _np("abstract")),
    _pattern("call_off", "call", "agent", Slot("particle", "off"), _np("event")),
    _pattern("set_up", "set", "agent", Slot("particle", "up"), _np("group")),
    _pattern("pick_up", "pick", "person", Slot("particle", "up"), _np("thing")),
    _pattern("carry_out", "carry", "agent", Slot("particle", "out"), _np("abstract")),
    _pattern("hand_over", "hand", "person", Slot("particle", "over"), _np("goods")),
    _pattern("rely_on", "rely count depend", "agent", _pp("on", "abstract", "ARG1")),
    _pattern("look_at", "look laugh shout", "person", _pp("at", "person", "ARG1")),
    _pattern("wait_for", "wait apply search", "person", _pp("for", "goods", "ARG1")),
    _pattern("talk_about", "talk complain argue worry joke", "person", _pp("about", "abstract", "ARG1")),
    _pattern("invest_in", "invest", "agent", _pp("in", "org", "ARG1")),
    _pattern("sit_on", "sit stand", "person", _pp("on", "surface", "ARG2"), role="ARG1"),
    _pattern("run_up", "run climb look", "person", _pp("up", "street", "ARGM-DIR")),
)

# lemma: past, participle. All others are regular.
IRREGULAR: dict[str, tuple[str, str]] = {
    "see": ("saw", "seen"), "meet": ("met", "met"), "hit": ("hit", "hit"), "cut": ("cut", "cut"),
    "break": ("broke", "broken"), "build": ("built", "built"), "eat": ("ate", "eaten"), "write": ("wrote", "written"),
    "read": ("read", "read"), "buy": ("bought", "bought"), "sell": ("sold", "sold"), "steal": ("stole", "stolen"),
    "give": ("gave", "given"), "send": ("sent", "sent"), "lend": ("lent", "lent"), "show": ("showed", "shown"),
    "put": ("put", "put"), "hide": ("hid", "hidden"), "keep": ("kept", "kept"), "leave": ("left", "left"),
    "go": ("went", "gone"), "drive": ("drove", "driven"), "fly": ("flew", "flown"), "run": ("ran", "run"),
    "fall": ("fell", "fallen"), "rise": ("rose", "risen"), "grow": ("grew", "grown"), "sleep": ("slept", "slept"),
    "sing": ("sang", "sung"), "begin": ("began", "begun"), "say": ("said", "said"), "think": ("thought", "thought"),
    "know": ("knew", "known"), "tell": ("told", "told"), "lead": ("led", "led"), "catch": ("caught", "caught"),
    "feed": ("fed", "fed"), "ride": ("rode", "ridden"), "bite": ("bit", "bitten"), "set": ("set", "set"),
    "sit": ("sat", "sat"), "stand": ("stood", "stood"), "be": ("was", "been"), "have": ("had", "had"),
    "do": ("did", "done"), "make": ("made", "made"),
}  # fmt: skip
DOUBLING = frozenset("hit cut spot hug plan drop put begin chat sit set run rob stop rub".split())
MODALS = "will can could would should must may might".split()
