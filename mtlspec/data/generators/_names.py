"""Names and dates of the small English; some names may be a person, a place or an organisation."""

# ruff: noqa: SIM905  (word lists are read as text)
from __future__ import annotations

FIRST_NAMES = """
Ann James Maria Peter Laura David Susan Robert Helen Mark Grace Bill Emma Thomas Julia Daniel Alice George Rose Paul
Clara Henry Nina Walter Irene Simon Olga Victor Diana Frank Martha Louis Sarah Oscar Judith Albert Karen Hugo Esther
Leon Ruth Arthur Nora Philip Edith Max Sophie Carl Anna Edgar Lucy Roger Agnes Felix Joan Martin Vera Stephen Hope
Gerald Iris Nathan Faith Eric June Oliver Pearl Conrad May Will Drew Chase Rob Grant Rich Penny Heather Dawn Miles Ivy
Amir Keiko Rahul Ingrid Pablo Yusuf Mei Tariq Leila Sven Priya Marco Zofia Kofi Ravi Elif Dmitri Hana Joao Amara
""".split()

SURNAMES = """
Smith Carter Brown Miller Davis Young Clark Green Baker Turner Cooper Hughes Price Barnes Fisher Cole Mason Hunt Palmer
Stone Reed Webb Gordon Porter Hayes Bishop Fletcher Marsh Newton Parsons Quinn Ramsey Sutton Tucker Vaughn Weaver Abbott
Barlow Crane Dalton Emerson Farrell Gibbs Harlow Ingram Jarvis Keller Lowell Merritt Norris Osborn Pruitt Rowland Sawyer
Thorne Underhill Vickers Winslow Yates Ashby Becker Calder Drummond Ellison Foley Garland Holloway Irving Judd Kemp Lang
Novak Okafor Petrov Rossi Santos Tanaka Ueda Varga Weiss Xu Yilmaz Zhang Kowalski Larsen Moreau Nakamura Ortega Patel
Silva Haddad Ivanov Jensen Khan Lindgren Mendes Nguyen Popescu Schmidt Takahashi Vargas Fischer Bianchi Duarte Eriksson
""".split()

PLACES = """
Paris London Berlin Madrid Rome Vienna Prague Lisbon Dublin Oslo Athens Warsaw Cairo Lagos Nairobi Tokyo Seoul Delhi
Mumbai Sydney Boston Chicago Seattle Denver Toronto Montreal Havana Lima Santiago Bogota France Germany Spain Italy
Portugal Ireland Norway Greece Poland Egypt Nigeria Kenya Japan Korea India Australia Canada Mexico Cuba Peru Chile
Brazil Argentina Colombia Ohio Texas Oregon Kansas Nevada Utah Maine Iowa Alaska Montana Sweden Denmark Finland Austria
Hungary Turkey Iran Iraq Syria Israel Sudan Ghana Morocco Tunisia Vietnam Thailand Nepal Indonesia Malaysia Zurich
Geneva Munich Hamburg Cologne Naples Milan Turin Porto Seville Valencia Krakow Budapest Ankara Izmir Tunis Accra Hanoi
Ashford Millbrook Riverton Kingsport Oakdale Fairview Stanhope Westbury Norwood Lakeside Redhill Thornbury Wexley
""".split()

TWO_WORD_PLACES = """
New_York New_Zealand South_Africa San_Diego Los_Angeles Hong_Kong Costa_Rica Sierra_Leone Buenos_Aires North_Dakota
West_Virginia Saint_Petersburg Port_Harcourt Cape_Town Lake_Victoria Mount_Ashford Fort_Dalton Green_River Long_Island
""".split()

# Only the context tells what these are.
AMBIGUOUS = """
Washington Jordan Lincoln Chelsea Austin Florence Victoria Ford Morgan Wells Houston Madison Jackson Hamilton Sharp
Wellington Bradford Milton Chester Dallas Lancaster Clinton Orlando Sheffield Stanford Carlisle Preston Hudson Harrow
Winston Bristol Warwick Kent Burton Dayton Sterling Marlow Tyler Holden Lincolnton Ramsay Whitby Kendal
""".split()

ORGANISATIONS = """
Intertech Novacom Globex Unilink Petrona Medicor Aerodyne Fintrust Agrolux Solaris Datanova Textron Veritas Omnicorp
Bluestar Hydrocel Cybernet Polymark Transoil Eurobank Megatel Pharmex Steelco Vitalis Quantica Norlight Primedia Ecovia
Zentrum Halcyon Orbitel Logitrans Banco Kraftwell Lumina Corvus Trident Axion Pinnacle Meridian
""".split()

ACRONYMS = "UNX IBC NTV ACME FDR WTA EBC CNA RSP BTU GLM OPC TRK DVA MIO PLC NEC ARB".split()
COMPANY_ENDINGS = "Corp. Inc. Bank Group Motors Airlines Press Records Pictures Foods Systems Energy Holdings".split()
INSTITUTIONS = "University Institute Museum Ministry Bank Academy College Council".split()
PAPERS = "Times Post Herald Tribune Gazette Chronicle".split()
TITLES = "Mr. Mrs. Ms. Dr. President Senator Judge Professor Captain Mayor General Minister".split()
INITIALS = "A. B. C. D. E. F. G. H. J. K. L. M. N. P. R. S. T. W.".split()

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
TODAY = "today yesterday tomorrow".split()
PERIODS = "week month year summer winter spring autumn weekend night".split()
SPELLED = "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty ninety".split()
SCALES = "thousand million billion".split()
