/*
 * What a cell of Python may not have if a check of a later one shall count: patterns, rather too
 * wide than too narrow, of what rebinds what prints or computes, reaches into a module, or runs
 * beside or after the cell. In which part of a text each is looked for, verifier/lang/lang.h says.
 */
#include "verifier/lang/python/python.h"

/* A name that prints, tests or computes for every cell. */
#define BUILTINS                                                                               \
	"(?:print|display|len|sum|min|max|abs|round|sorted|str|repr|int|float|bool|list|dict|" \
	"set|tuple|open|input|format|any|all|zip|map|filter|range|enumerate|isinstance|type|"  \
	"bytes|bytearray|frozenset|complex|super|property|reversed|pow|divmod|object|slice|"   \
	"chr|ord|hash|next|iter|hasattr|issubclass|bin|hex|oct|callable|ascii|memoryview|"     \
	"classmethod|staticmethod|exit|quit|StopIteration|NotImplemented|" ERRORS ")"
#define ERRORS                                                                              \
	"(?:Base)?Exception(?:Group)?|(?:Arithmetic|Assertion|Attribute|BlockingIO|"        \
	"BrokenPipe|Buffer|ChildProcess|Connection(?:Aborted|Refused|Reset)?|EOF|"          \
	"Environment|FileExists|FileNotFound|FloatingPoint|IO|Import|Indentation|Index|"    \
	"Interrupted|IsADirectory|Key|Lookup|Memory|ModuleNotFound|Name|NotADirectory|"     \
	"NotImplemented|OS|Overflow|Permission|ProcessLookup|PythonFinalization|Recursion|" \
	"Reference|Runtime|Syntax|System|Tab|Timeout|Type|UnboundLocal|Unicode(?:Decode|"   \
	"Encode|Translate)?|Value|ZeroDivision)Error|GeneratorExit|SystemExit|"             \
	"KeyboardInterrupt"
/* What stands after a name and a colon, its type, is stepped over. */
#define TYPED                                                                               \
	"^[ \\t]*(?!(?:else|try|finally|" BUILTINS ")\\b)(?:self\\.)?[A-Za-z_]\\w*[ \\t]*:" \
	"[ \\t]*[\\w.|\\[\\], \\t]*(?==)(*SKIP)(*FAIL)|"
/* Of what follows a name in a target: brackets of its own, a part, another target. */
#define ASSIGNED_BY "[ \\t]*(?:[-+*/%&|^@]|//|\\*\\*|<<|>>)?=(?![=}!])"
#define IN_TARGET                                           \
	"(?:[^()\\[\\]\\n=#;:]|\\([^()]*\\)|(?<=[\\w)\\]])" \
	"\\[[^\\[\\]\\n]*\\]|(?<![\\w)\\]])[\\[\\]])*"
#define START "(?:^|[;:])[ \\t\\f\\x{feff}]*"
/* A name that an import binds, which \1 is from then on. */
#define IMPORTED "(?s)" START "import[ \\t]+(?:[^\\n]*[, \\t])?(\\w+)(?=[ \\t]*(?:[.,;#\\n]|$)).*"
/* What stands in the place of an object that a method is given. */
#define OF_OBJECT "(?:self|cls)\\b"
/* Names alone, as the whole target of a loop: what follows "in" is none. */
#define OTHER_NAME  "(?!" BUILTINS "\\b)[A-Za-z_]\\w*"
#define OTHER_NAMES "[ \\t]+" OTHER_NAME "(?:[ \\t]*,[ \\t]*" OTHER_NAME ")*[ \\t]+in\\b"
/* Parts of an object that no module and hardly a class of a library has, and of tables. */
#define OWN_NAMES                                                                       \
	"(?:next|prev|left|right|children|val|score|balance|health|quantity|neighbors|" \
	"salary|row_factory|text_factory)\\b"
#define DATA_NAMES "(?:(?:columns|index|name|dtypes?|values)\\b|" OWN_NAMES ")"
/* What a generator runs when nobody goes on with it. */
#define GIVEN_UP                                                                          \
	"(?:\\bfinally\\b|\\bexcept[ \\t]*[:*]|\\bexcept[ \\t]+[^:\\n]*\\w[ \\t]*[(\\[]|" \
	"\\b(?:BaseException|GeneratorExit|__exit__)\\b)"
/* A context manager by "with" alone, which goes on with it; a file that is closed. */
#define LEFT_BY_WITH                                                               \
	"^([ \\t]*)@(?:contextlib\\.)?contextmanager[ \\t]*\\n\\1def\\b[^\\n]*\\n" \
	"(?:(?:\\1[ \\t]++[^\\n]*+)?\\n)*+(?:\\1[ \\t]++[^\\n]*+\\z)?"
#define CLOSES                                                                           \
	"^([ \\t]*)finally[ \\t]*:[ \\t]*\\n[ \\t]+\\w+\\.close\\(\\)[ \\t]*(?:\\n(?:[ " \
	"\\t]*\\n)*+"                                                                    \
	"(?!\\2[ \\t])|\\z)"
/* A format of numbers, and nothing else. */
#define NUMBER_FORMAT                                                                       \
	"(?:['\"] "                                                                         \
	"+['\"]\\.format|['\"][$\\x{20ac}]?\\{:[,_]?(?:\\.\\d+)?[fge%]\\}%?['\"]\\.format|" \
	"lambda[ \\t]+(\\w+)[ \\t]*:[ \\t]*(?:['\"]%(?:\\.\\d+)?[fge]['\"][ \\t]*%[ \\t]*"  \
	"\\w+|f['\"][$\\x{20ac}]?\\{\\w+:[,_]?(?:\\.\\d+)?[fge%]\\}%?['\"]))[ \\t\\n]*[)\\n]"

const char *const python_forges[] = {
	"\\b(?:builtins|setattr|delattr|globals|locals|vars|exec|__import__|"
	"ctypes|gc|inspect|atexit|threading|_thread|multiprocessing|settrace|"
	"setprofile|mock|excepthook|displayhook|MethodType|weakref|finalize|fdopen|FileIO|"
	"pass_fds|close_fds|closerange|get_field|pydoc|(?:gi|cr|ag|tb)_frame|f_back|"
	"f_(?:builtins|globals|locals))\\b|(?<![\\w)\\]]\\.)\\beval\\b|\\beval\\b(?!\\([ "
	"\\t\\n]*['\"])|"
	"\\.[ \\t]*modules\\b",
	/* A module by a name that may be computed; but whether there is one, and which version. */
	"(?:(?<=import )importlib(?:\\.util|\\.metadata)?[ \\t]*(?:[;#\\n]|$)|"
	"(?<=from )importlib\\.metadata import (?:version|PackageNotFoundError)"
	"(?:, (?:version|PackageNotFoundError))*[ \\t]*(?:[;#\\n]|$)|"
	"\\bimportlib\\.metadata\\.(?:version\\(|PackageNotFoundError\\b)|"
	"\\bimportlib\\.util\\.find_spec\\([^()\\n]*\\)(?=[ \\t]*(?:is\\b|[:)\\]])))"
	"(*SKIP)(*FAIL)|\\bimportlib\\b",
	"\\b(?:import|from)[ \\t(]+(?:[\\w., \\t]*[ ,\\t])?(?:code|trace|profile|modules|pty)\\b|"
	"\\b(?<!from scipy )import[ \\t(]+(?:[\\w., \\t]*[ ,\\t])?signal\\b|"
	"\\bfrom[ \\t]+signal\\b|"
	"\\.[ \\t]*signal\\b(?<!scipy\\.signal)|\\bsignal[ \\t]*\\.[ \\t]*(?:signal|alarm|"
	"set\\w*|sig\\w*|SIG\\w*|raise_signal|pthread\\w*)\\b|\\bsignal[ \\t]+as\\b",
	/* But of re, where another of that name would only make code that nothing above runs. */
	"\\b(?<!(?<![.\\w])re\\.)compile\\b|\\bcompile\\b(?!\\()",
	/* What runs text, bytes or a function of the cell's, in a place or at a time of its own. */
	"\\b(?:marshal|shelve|joblib|runpy|doctest|cProfile|pdb|bdb|codeop|"
	"zipimport|pkgutil|addsitedir|get_type_hints|ForwardRef|attrgetter|methodcaller|"
	"FunctionType|CodeType|redirect_std\\w+|ExitStack|enter_context|"
	"ThreadPool(?!Executor\\b)\\w*|ProcessPool\\w*|sched|popen|Popen|putenv|register\\w*|"
	"seterrcall|seterrobj|set_display|install_opener|reset_tzpath|add_type|global_enum|"
	"global_str|breakpoint|fileinput|set_string_function|switch_backend|cffi|cppyy|numba|"
	"sysconfig|sympify|"
	"parse_expr|unsafe_load\\w*|UnsafeLoader|mro)\\b|"
	"\\bos\\.system\\b|_hooks?\\b|\\bmeta_path\\b",
	/* But what is at its end with the cell that began it. */
	"\\b(?:import[ \\t]+(?:pickle|timeit|asyncio|subprocess)[ \\t]+as|from[ \\t]+(?:\\w*pickle|"
	"timeit|asyncio|subprocess))\\b(?! import default_timer\\b)|"
	"(?<!import )\\b(?!to_pickle\\b|read_pickle\\b)\\w*pickle\\b(?!\\.dumps?\\b)|"
	"(?<!import )(?<!timeit\\.)(?<!from )\\btimeit\\b(?!\\.default_timer\\b|"
	"\\.(?:timeit|repeat)\\([ \\t]*lambda\\b(?![^\\n]*\\b(?:setup|stmt|timer)\\b)[^\\n'\"]*$)|"
	"(?<!import "
	")\\basyncio\\b(?!\\.(?:run|sleep|gather|wait|wait_for|create_task|Queue|Semaphore|"
	"Lock|Event|TimeoutError|CancelledError|as_completed|TaskGroup)\\b)|"
	"(?<!import "
	")\\bsubprocess\\b(?!\\.(?:run|check_output|call|CalledProcessError|PIPE|DEVNULL|"
	"STDOUT|TimeoutExpired)\\b)|"
	"(?<!with )\\bconcurrent\\b(?!\\.futures(?:[ \\t]*$|\\.as_completed\\b|[ \\t]+import[ \\t]+"
	"(?:(?:as_completed|ThreadPoolExecutor)(?:,[ \\t]*)?)+$))|"
	"\\bThreadPoolExecutor\\b(?<!with ThreadPoolExecutor)(?<!import ThreadPoolExecutor)"
	"(?<!with concurrent\\.futures\\.ThreadPoolExecutor)(?<!as_completed, ThreadPoolExecutor)|"
	"(?s:\\A(?=.*?\\b(?:yield|await|async)\\b).*?\\bThreadPoolExecutor\\b)|(?<!self)\\.gen\\b",
	/* The numbers of others, in words of the cell's. */
	"\\bset_printoptions\\b(?!\\([ \\t\\n]*(?:(?:precision|suppress|threshold|edgeitems|"
	"linewidth|floatmode|sign)[ \\t]*=[ \\t]*[\\w.' ]+(?:,[ \\t\\n]*|[ \\t\\n]*(?=\\))))*\\))|"
	"\\b(?:set|reset)_option\\b(?!\\()|\\bset_eng_float_format\\b|\\bsetcontext\\b",
	/* A part of one of these, written so that no pattern below would know it. */
	"\\b(?:sys|os|io|subprocess|timeit|asyncio|pickle|signal|concurrent|shutil|builtins)"
	"(?:[ \\t\\n]+\\.|\\.[ \\t\\n])[ \\t\\n]*\\w",
	/* The interpreter by another name, or where it looks for modules. */
	"\\bimport[ \\t]+(?:[\\w., \\t]+,[ \\t]*)?sys[ \\t]+as\\b|\\bsys\\b[ \\t]*(?![.,;#\\n]|[ "
	"\\t]|$)|"
	"\\bsys[ \\t]*\\.[ \\t]*(?!(?:stdin|stdout|stderr|argv|exit|maxsize|version|version_info|"
	"platform|getsizeof|float_info|byteorder|setrecursionlimit|getrecursionlimit|"
	"executable|maxunicode|path(?=\\.(?:append|insert)\\())\\b)|=[ "
	"\\t]*\\(?(?:\\w+\\.)*sys\\b[ \\t]*(?!\\.)|\\bdetach\\b",
	/* The streams of the cell after it, by their numbers. */
	"\\.[ \\t]*(?:sys|os|builtins)\\b|\\bimport[ \\t]+(?:[\\w., \\t]+,[ \\t]*)?os[ \\t]+as\\b|"
	"\\.[ \\t]*(?:dup2?|fork\\w*|execv\\w*|writev|pwritev?|sendfile|posix_spawn\\w*)\\b|"
	"\\bos\\.(?:write|writev|pwrite|pwritev|dup|dup2|sendfile|splice|fork\\w*|exec\\w*|posix_"
	"spawn\\w*)\\b|"
	"\\bopen[ \\t]*\\([ \\t\\n]*\\d|\\bfrom[ \\t]+(?:os|posix|sys)[ "
	"\\t]+import\\b|\\bposix\\b",
	/* A generator that is given up runs what catches or leaves that. */
	"(?s)\\A(?!.*?\\b(?:yield|await)\\b).*+(*COMMIT)(*FAIL)|\\bdef[ "
	"\\t]+close\\b|(?-s)" LEFT_BY_WITH "(*SKIP)(*FAIL)|" CLOSES "(*SKIP)(*FAIL)|" GIVEN_UP,
	"^[ \\t\\f]*(?:async[ \\t]+)?(?:def|class)[ \\t]+" BUILTINS
	"\\b(?![ \\t]*\\([ \\t]*self\\b)",
	TYPED "\\b" BUILTINS "[ \\t\\n]*:=|"
	      "(?:(?<![\\w)\\]])[(\\[]|[,*])[ \\t\\n]*" BUILTINS
	      "[ \\t\\n]*(?:,[^()=\\n]*)?[)\\]]+(?:[^()=\\n:]|\\([^()=\\n]*\\))*=(?!=)",
	"\\b(?:as|for(?!" OTHER_NAMES
	")|global|del|case|type)[ \\t]+(?:[^:\\n]*[,(\\[|][ \\t]*)?" BUILTINS "\\b(?![ \\t]*\\()",
	"\\bimport[ \\t]+(?:\\*|[^\\n]*\\b" BUILTINS "\\b)|\\bimport[ \\t]*\\([^)]*\\b" BUILTINS
	"\\b",
	"\\b(?!self\\b|cls\\b)[A-Za-z_]\\w*(?:[ \\t]*\\.[ \\t]*\\w+)+[ \\t]*\\.[ \\t]*"
	"(?!" DATA_NAMES ")\\w+(?<!pd\\.options\\.mode\\.chained_assignment|"
	"pd\\.options\\.display\\.max_rows|pd\\.options\\.display\\.max_columns|"
	"pd\\.options\\.display\\.width|pd\\.options\\.display\\.precision|"
	"pd\\.options\\.display\\.float_format)" ASSIGNED_BY,
	/* A class of a library has columns, too. */
	"\\b[A-Za-z_]\\w*(?:\\.\\w+)*\\.[A-Z]\\w*\\.\\w+" ASSIGNED_BY,
	"[)\\]](?!(?<=getcontext\\(\\))\\.prec[ \\t]*=[ \\t]*\\d{2,}[ \\t]*(?:[;#\\n]|$))[ "
	"\\t]*\\.[ \\t]*(?!" OWN_NAMES ")\\w+" ASSIGNED_BY,
	IMPORTED "(?<![.\\w])(?<!: )\\1(?![ \\t]*\\.[ \\t]*options\\b)(?:[ \\t]*\\.[ "
		 "\\t]*\\w+)+" ASSIGNED_BY,
	IMPORTED "(?:=|\\bin|\\bas)[ \\t]*[\\[(]?[ "
		 "\\t]*\\1(?:\\.\\w+)*\\.(?!(?:Na[NT]|Inf|Row)\\b)[A-Z]\\w*[a-z]\\w*"
		 "[ \\t]*(?:[,)\\];:#]|$)",
	"(?s)\\bfrom[ \\t]+[\\w.]+[ \\t]+import\\b(?:[^\\n(]*|[^\\n(]*\\([^)]*)\\b(\\w+)\\b.*"
	"(?:(?<![.\\w])\\1(?:[ \\t]*\\.[ \\t]*\\w+)+" ASSIGNED_BY
	"|(?:=|\\bin)[ \\t]*[\\[(]?[ \\t]*(?=[A-Z]\\w*[a-z])\\1[ \\t]*(?:[,)\\];:#]|$))",
	/* One target of several, and those of other statements. */
	"(?:^|[;:])[ \\t]*" IN_TARGET "(?:(?<!self|cls)\\.[ \\t]*(?!" OWN_NAMES
	")\\w+[ \\t]*[,)\\]]|"
	"(?<![\\w)\\]])[(\\[][^()=\\n]*\\.[ \\t]*\\w+[ \\t]*[,)\\]])" IN_TARGET "=(?!=)|"
	"\\bfor[ \\t]+(?:(?!\\bin\\b)[^:\\n])*(?<!\\d)\\.[ \\t]*\\w|"
	"\\bas[ \\t]+[\\[(]*[\\w, \\t]*\\w[ \\t]*\\.[ \\t]*\\w+[ \\t]*[:,)\\]]|"
	"(?:^|[;:])[ \\t]*del[ \\t]+[^\\n]*\\.|"
	"(?:^|[;:])[ \\t]*(?!self\\b)[A-Za-z_]\\w*(?:\\.\\w+)+[ \\t]*:[^=\\n]*=(?!=)",
	/* Letters, digits and lines that Python takes for others. */
	"[\\x{aa}\\x{ba}\\x{132}\\x{133}\\x{13f}\\x{140}\\x{149}\\x{17f}\\x{1c4}-\\x{1cc}"
	"\\x{1f1}-\\x{1f3}\\x{2b0}-\\x{2ff}\\x{1d00}-\\x{1dbf}\\x{1e9a}"
	"\\x{2070}-\\x{209f}\\x{2100}-\\x{218b}\\x{2c7c}\\x{2c7d}\\x{a7f2}-\\x{a7f4}"
	"\\x{fb00}-\\x{fb06}\\x{fe33}\\x{fe34}\\x{fe4d}-\\x{fe4f}\\x{ff00}-\\x{ff5a}"
	"\\x{10780}-\\x{107ba}\\x{1d400}-\\x{1d7ff}\\x{1fbf0}-\\x{1fbf9}]",
	/* What a pattern takes a value for. */
	"^[ \\t\\f]*case\\b[^\\n]*[=:,(\\[|{*][ \\t]*" BUILTINS "\\b(?![ \\t]*[(.=])",
	/* What writes all that is logged. */
	"\\b(?:setLoggerClass|setLogRecordFactory|addLevelName|addFilter|LoggerAdapter)\\b|"
	"\\bclass\\b[^\\n:]*\\([^\\n:]*\\b(?:Formatter|Filter|LogRecord|Logger|"
	"(?:Stream|File|Memory|Buffering|Rotating\\w*)?Handler)\\b|"
	"(?s:\\A(?=.*?\\blogging\\b).*?\\K\\bdef[ \\t]+(?:handle|emit|filter|format)\\b)",
	/* A module handed on by its name, a part of one, or what it keeps for itself. */
	IMPORTED "^(?![ \\t]*(?:import|from)\\b)[^\\n]*(?:[(,=\\[{:]|\\bin|\\breturn|\\byield|"
		 "\\bor|\\band|\\belse|\\bif)[ \\t\\n]*\\b\\1[ \\t]*(?:[,)\\]};]|$|"
		 "(?:if|or|and|else|for)\\b)",
	IMPORTED "\\b\\1(?:\\.(?!rcParams\\b|environ\\b)\\w+)+[ \\t]*\\[[^\\]\\n]*\\]" ASSIGNED_BY,
	IMPORTED "\\b\\1(?:\\.(?!rcParams\\b|environ\\b|path\\.(?:append|insert)\\()\\w+)+\\.(?:"
		 "update|append|insert|extend|"
		 "clear|pop|setdefault|popitem|remove|sort|reverse|add|discard)[ \\t]*\\(",
	IMPORTED "\\b\\1(?:\\.\\w+)*\\._[A-Za-z]",
	"(?s)\\bfrom[ \\t]+[\\w.]+[ \\t]+import\\b[^\\n]*\\b(\\w+)\\b.*^[ \\t]*\\1[ "
	"\\t]*\\[[^\\]\\n]*\\]" ASSIGNED_BY,
	/* An object of a method that is no method's, or another's. */
	"^(?:async[ \\t]+)?def[ \\t]+\\w+[ \\t]*\\([ \\t\\n]*" OF_OBJECT "|"
	"^([ \\t]*)(?:async[ "
	"\\t]+)?(?:def|if|for|while|with|try|else|elif|except|finally|match|case)"
	"\\b[^\\n]*\\n(?:(?:\\1[ \\t]++[^\\n]*+)?\\n)*?\\1[ \\t]+(?:async[ \\t]+)?def[ \\t]+\\w+[ "
	"\\t]*\\([ "
	"\\t\\n]*" OF_OBJECT "|"
	"\\bdef[ \\t]+\\w+[ \\t]*\\((?:[^()]|\\([^()]*\\))*[,*][ \\t\\n]*" OF_OBJECT "|"
	"\\bstaticmethod\\b[ \\t\\n]*(?:async[ \\t]+)?def[ \\t]+\\w+[ \\t]*\\([ \\t\\n]*" OF_OBJECT,
	"(?<![.\\w])" OF_OBJECT "[ \\t]*(?::[^=\\n,()]*)?(?::=|=(?!=))|"
	"(?:^|[;:])[ \\t]*(?:[\\w.]+[ \\t]*,[ \\t]*|[(\\[*][ \\t]*)*(?<![.\\w])" OF_OBJECT
	"[ \\t]*[,)\\]][^=\\n]*=(?!=)|"
	"\\bfor[ \\t]+(?:(?!\\bin\\b)[^:\\n])*\\b" OF_OBJECT "|"
	"\\bas[ \\t]+[\\[(]*(?:[\\w, \\t]*,[ \\t]*)?" OF_OBJECT "|"
	"\\b(?:global|nonlocal|case)\\b[^\\n]*\\b" OF_OBJECT,
	"^([ \\t]*)class[ \\t]+(\\w+)[^\\n]*+\\n(?:(?:\\1[ \\t]++[^\\n]*+)?\\n)*?"
	"(?<!classmethod\\n)\\1[ \\t]++(?:async[ \\t]+)?def[ \\t]+(\\w+)[ \\t]*\\([ "
	"\\t\\n]*" OF_OBJECT "(?s:.*)\\b\\2[ \\t]*\\.[ \\t]*\\3\\b|"
	"\\btype[ \\t]*\\((?:[^()]|\\([^()]*\\))*\\)[ \\t]*\\.(?![ \\t]*__(?:name|qualname)__)",
	/* What is called when it is done with, or by a thread of the library's. */
	"\\bclass\\b[^\\n:]*\\([^\\n:]*IO(?:Base)?\\b|\\b(?:closing|QueueListener|faulthandler)\\b",
	NULL,
};

/* Variables of the environment that change no answer. */
#define PLAIN_VARIABLES "['\"](?: +|MPLBACKEND|MPLCONFIGDIR|TZ|OMP_NUM_THREADS)['\"]"
/* How tables are shown. */
#define PLAIN_OPTION                                                                         \
	"['\"](?: +|(?:display\\.)?(?:max_\\w+|min_rows|width|precision|expand_frame_repr))" \
	"['\"][ \\t\\n]*,[ \\t\\n]*[\\w ]+"
/* Modules that no cell can have written where they were there before (context.py): of Python, and
 * those that programs of data have most. */
#define KNOWN_MODULES                                                                             \
	"abc|pickle|timeit|argparse|array|ast|asyncio|base64|binascii|bisect|bz2|calendar|cmath|" \
	"collections|"                                                                            \
	"colorsys|configparser|contextlib|copy|csv|dataclasses|datetime|decimal|"                 \
	"difflib|email|enum|errno|fnmatch|fractions|functools|glob|graphlib|gzip|hashlib|"        \
	"heapq|hmac|html|io|ipaddress|itertools|json|keyword|linecache|locale|logging|"           \
	"lzma|math|matplotlib|mimetypes|mpl_toolkits|numbers|numpy|"                              \
	"operator|os|pandas|pathlib|PIL|platform|pprint|queue|random|"                            \
	"re|reprlib|scipy|seaborn|secrets|shlex|shutil|sklearn|sqlite3|stat|"                     \
	"statistics|subprocess|string|struct|sys|tarfile|tempfile|textwrap|time|timeit|"          \
	"tokenize|tomllib|traceback|types|typing|unicodedata|unittest|urllib|uuid|"               \
	"warnings|xml|zipfile|zlib|zoneinfo|__future__"
/* What leaves a file. */
#define WRITES                                                                                     \
	"\\b(?:write\\w*|to_\\w+|extract\\w*|unpack\\w*|rename|replace|copy\\w*|move|symlink\\w*|" \
	"link\\w*|\\w*link_to|dump|save\\w*|tofile|file[ \\t]*=)"
#define OTHER_IMPORT                                                                       \
	START "(?:import[ \\t]+(?:[\\w., \\t]*,[ \\t]*)?|from[ \\t]+)(?!(?:" KNOWN_MODULES \
	      ")\\b)[A-Za-z_.]"

/* The words of what logs, and of a day, with no number among them. */
#define LOG_FORMAT                                                                      \
	"['\"](?: +|(?:%\\((?:asctime|levelname|name|message|filename|funcName|module|" \
	"pathname|threadName)\\)-?\\d*s|%[A-Za-z]|[^'\"\\d%\\n])*)['\"]"
/* A place that no cell can write to. */
#define OF_INPUTS "['\"](?: +|/in(?:/(?:(?!\\.\\.)[^'\"\\n\\\\])*)?)['\"]"
/* Tools that start no other, waited for. */
#define PLAIN_COMMAND                                                                          \
	"\\([ \\t\\n]*\\[[ \\t\\n]*['\"](?: +|ls|wc|grep|head|tail|cat|date|uname|du|df|file|" \
	"which|echo|stat|md5sum|sha1sum|sha256sum|diff|cmp|cut|tr|seq|nproc|id|pwd)['\"]"      \
	"(?:[ \\t\\n]*,[ \\t\\n]*(?:f?['\"][^'\"\\n]*['\"]|\\w+))*+[ \\t\\n]*\\]"              \
	"(?:[ \\t\\n]*,[ \\t\\n]*(?:(?:stdout|stderr)=subprocess\\.[A-Z]+|(?:capture_output|"  \
	"text|check|encoding|timeout|cwd)=['\"]?[\\w./ -]*['\"]?))*+[ \\t\\n]*\\)"

const char *const python_forges_text[] = {
	"/proc/|/dev/fd|module://",
	"__(?!(?:name|main|init|repr|str|len|eq|ne|lt|le|gt|ge|hash|iter|next|call|add|sub|mul|"
	"truediv|floordiv|mod|pow|neg|abs|radd|rsub|rmul|iadd|isub|and|or|xor|bool|float|int|"
	"format|reversed|matmul|missing|contains|getitem|setitem|delitem|post_init|future|slots|"
	"doc|file|version|enter|exit)__|class__\\.__name__)\\w+__|"
	"\\.[ \\t]*__(?:enter|exit)__",
	/* The methods of a class on what is not their own. */
	"\\bsuper\\([^()]*\\)\\.__\\w+__(*SKIP)(*FAIL)|"
	"\\.[ \\t]*__(?:setitem|delitem|init|iadd|isub|post_init)__(?![ \\t]*\\([ "
	"\\t]*(?:self|cls)\\b)",
	"\\bread_pickle\\b(?!\\([ \\t\\n]*" OF_INPUTS "[ \\t\\n]*[,)])|"
	"\\bsys\\.path\\b(?!\\.(?:append\\([ \\t]*|insert\\([ \\t]*0[ \\t]*,[ \\t]*)" OF_INPUTS
	"[ \\t]*\\))",
	"\\bsubprocess\\.(?:run|check_output|call)\\b(?!" PLAIN_COMMAND ")|"
	"(?<=[\\w)\\]]\\.)eval\\((?![ \\t\\n]*['\"](?: +|[^'\"@(){}\\\\]*)['\"][ \\t\\n]*[,)])",
	"\\bgetattr\\b(?!\\([^(),\\n]+,[ \\t]*['\"](?: +|"
	"(?!(?:sys|os|builtins|modules|path)['\"])[A-Za-z]\\w*)['\"][ \\t]*[,)])",
	"\\bset_option\\((?![ \\t\\n]*(?:" PLAIN_OPTION "[ \\t\\n]*\\)|"
	"['\"](?: +|(?:display\\.)?float_format)['\"][ \\t\\n]*,[ \\t\\n]*" NUMBER_FORMAT "))|"
	"\\boption_context\\b(?!\\([ \\t\\n]*(?:" PLAIN_OPTION "[ \\t\\n]*,?[ \\t\\n]*)*\\))|"
	"(?<=['\".])float_format\\b(?!['\"][ \\t\\n]*,[ \\t\\n]*" NUMBER_FORMAT
	"|[ \\t]*=[ \\t]*" NUMBER_FORMAT ")",
	"\\b(?:matplotlib|mpl)\\.use\\((?![ \\t\\n]*['\"](?: +|[Aa]gg)['\"])|"
	"\\benviron\\b(?!\\.get\\b|\\.setdefault\\(" PLAIN_VARIABLES "|\\[" PLAIN_VARIABLES ")",
	/* What is logged with more words than it has. */
	"\\bbasicConfig\\b(?=\\((?:[^()]|\\([^()]*\\))*\\b(?:format|datefmt)[ \\t]*=(?![ "
	"\\t]*" LOG_FORMAT "[ \\t\\n]*[,)]))|"
	"\\bFormatter\\((?![ \\t\\n]*(?:\\)|(?:fmt[ \\t]*=[ \\t]*)?" LOG_FORMAT
	"[ \\t\\n]*(?:,[ \\t\\n]*(?:datefmt[ \\t]*=[ \\t]*)?" LOG_FORMAT
	"[ \\t\\n]*)?,?[ \\t\\n]*\\)))",
	/* A module that a cell may have written. */
	"(?s)\\A(?=.*?" WRITES ").*?\\K" OTHER_IMPORT,
	"(?s)\\A(?=.*?" WRITES ").*?\\K['\"][^'\"\\n]*\\.(?:py|so|pth)['\"]",
	/* Read as something else than it looks like. */
	"^[ \\t\\f]*#[^\\n]*coding[:=][ \\t]*(?!utf-?8\\b|ascii\\b)",
	NULL,
};

const char *const python_forges_flat[] = {
	TYPED "(?<![.\\w=!<>])" BUILTINS "[ "
	      "\\t]*(?::[^=\\n]*)?(?:,(?:[^=\\n()]|\\([^()=\\n]*\\))*)?("
	      "?:[-+*/%&|^@]|//|\\*\\*|<<|>>)?=(?!=)(?![^(\\n]*\\))",
	NULL,
};
