/* What parts.c knows of modules, classes and functions, names between blanks: what is listed is
 * harmless, but where a list says otherwise. */
#ifndef VERIFIER_LANG_PYTHON_KNOWN_H
#define VERIFIER_LANG_PYTHON_KNOWN_H

/* Their parts in small letters are functions, or what nobody can change ... */
#define OF_FUNCTIONS                                                                           \
	" math cmath statistics itertools operator heapq bisect time random re copy textwrap " \
	"secrets colorsys zlib json binascii base64 hashlib struct unicodedata numpy scipy "   \
	"pandas functools datetime shutil glob fnmatch gzip html typing dataclasses seaborn "  \
	"sklearn pprint shlex matplotlib zoneinfo contextlib warnings traceback "
/* ... but for these, which are modules, or data. */
#define CHANGEABLE                                                                             \
	" random linalg core lib ma fft testing typing char rec stats signal polynomial io "   \
	"ctypeslib sctypeDict sparse special ndimage spatial optimize integrate interpolate "  \
	"path encoder decoder scanner options api plotting errors entities cluster constants " \
	"typecodes rcParams tseries datasets pyplot filters html5 name2codepoint sctypes "     \
	"codepoint2name entitydefs library registry typeinfo colormaps "
/* Whose parts in capitals are numbers and flags. */
#define OF_CONSTANTS                                                                        \
	" re logging csv sqlite3 decimal calendar uuid os errno stat PIL zipfile datetime " \
	"numpy pandas scipy matplotlib "
/* What nobody can change, wherever it is from. */
#define UNCHANGING                                                                         \
	" pi e tau inf nan newaxis NaN NaT NA Inf Row UTC utc digits ascii_letters "       \
	"ascii_lowercase ascii_uppercase hexdigits octdigits punctuation printable "       \
	"whitespace maxsize version version_info platform byteorder executable "           \
	"maxunicode float_info argv stdin stdout stderr buffer readline readlines read "   \
	"write flush sep linesep curdir pardir name deque defaultdict OrderedDict "        \
	"Decimal date datetime timedelta timezone tzinfo number integer floating generic " \
	"object_ bool_ str_ partial lru_cache cache TYPE_CHECKING Any environ __version__ "
/* Their elements are words. */
#define OF_WORDS " month_name month_abbr day_name day_abbr kwlist softkwlist stdin "
/* They ask of what they are given, print or copy it. */
#define ASKING                                                                           \
	" isinstance issubclass len print sorted list tuple set frozenset str repr sum " \
	"enumerate astype select_dtypes display pprint writer reader DictReader "        \
	"DictWriter suppress catch "
/* They call what they are given first, and nobody else has it of them. */
#define CALLING                                                                        \
	" map filter reduce apply agg aggregate transform applymap partial starmap "   \
	"defaultdict vectorize quad minimize minimize_scalar curve_fit brentq fsolve " \
	"odeint solve_ivp apply_along_axis run submit "
/* Arguments that say how, and those that are copied. */
#define MANNERS                                                                      \
	" key dtype default_factory file type cls aggfunc category formatter_class " \
	"tzinfo tz cmap parse_float parse_int columns index labels categories "      \
	"object_pairs_hook stream level "
#define BUILTIN                                                                                  \
	" sorted min max sum print list tuple set frozenset str repr len isinstance issubclass " \
	"enumerate map filter display super type "
/* What a class of a cell's could be asked for. */
#define OPERATORS    " == != < > <= >= + - * / // % ** | & ^ << >> in "
#define NO_OPERATORS " -> is not raise except @ "
#define PLAIN_METHODS                                                              \
	" __init__ __repr__ __str__ __len__ __iter__ __next__ __enter__ __exit__ " \
	"__call__ __hash__ __bool__ __post_init__ __format__ __float__ __int__ "
#define CHANGING                                                                         \
	" update append insert extend clear pop setdefault popitem remove sort reverse " \
	"add discard appendleft "

/* Parts of an object that no module and hardly a class of a library has, and of tables. */
#define OWN_PARTS                                                                       \
	" next prev left right children val score balance health quantity neighbors "   \
	"salary row_factory text_factory columns index name dtype dtypes values shape " \
	"real imag "

#endif
