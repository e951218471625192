"""Words that tell whether a full stop ends a sentence, in small letters and without their last stop."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LEADING = _words(
    """
    mr mrs ms dr drs prof rev gen sen rep gov capt cpt lt col sgt cpl maj cmdr adm hon pres messrs mme mlle mt ft fr sr
    sra hr dra st ste vs viz cf ca approx al e.g i.e eg ie p.s ps z.b d.h u.a bzw resp p.ej p.ex incl tel hrsg vgl abb
    """
)
"""Something follows: a name, an example."""

BEFORE_NUMBERS = _words(
    """
    no nos nr nrs pp p vol vols fig figs art sec sect ch chap par eq ed op ext jan feb mar apr jun jul aug sep sept oct
    nov dec jän mär okt dez janv févr avr juil déc bd s
    """
)
"""A number may follow."""

CLOSING = _words(
    """
    inc co corp ltd llc bros jr sr esq etc a.m p.m am pm ph.d m.d b.a m.a dept univ assn ave blvd rd hwy bldg apt min
    max est usw
    """
)
"""A sentence may end here."""

BEGINNING = _words(
    """
    the this that these those there here he she it we you they i his her its our your their my a an and but or so if in
    on at for from with when while what why who where how then not no yes as by after before since because although
    however also some many most all another each every both one once now please thank thanks let do does did is are
    was were can could will would should have has
    der die das ein eine er sie es wir ich ihr im am auf mit und aber nach für wenn als dann dort hier auch nicht zu
    le la les un une il elle ils elles nous vous je on ce cette ces dans en et mais pour avec sur quand si
    el los las una y pero se su sus con por cuando este esta estos
    lo gli i nel e ma per quando questo questa
    o os as um uma ele ela eles nós em mas não com
    de het een hij zij wij ik maar op met dit dat
    """
)
"""Words that often begin a sentence and seldom go on after a name: English, German, French, Spanish, Italian, ..."""

BEGINNING_SMALL = _words(
    """
    i i'm i'll i've you he she it it's its we they there this that these those the my your what why how when where who
    if so but and just do does did is are can could please thanks also maybe anyway ok well
    """
)
"""Words that begin sentences of people who write no capitals."""
