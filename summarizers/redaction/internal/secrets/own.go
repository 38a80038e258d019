package secrets

// Own are our rules for further secrets, which people expect to be found. A rule with the ID of a gitleaks rule
// replaces that rule.
var Own = []Rule{
	// Credentials of an Authorization header, in HTTP or in code.
	{
		ID:       "authorization-header",
		Regex:    `(?i)\bauthorization["'\x60]?\s{0,4}[:=,]\s{0,4}["'\x60]{0,2}(?:bearer|basic|token|apikey|bot)[ \t]{1,4}([a-z0-9._~+/=-]{8,})`,
		Keywords: []string{"authorization"},
		Allowlists: []Allowlist{
			// Words.
			{Regexes: []string{
				`^(?:[a-z_.-]+|[A-Z_.-]+|[A-Z][a-z]+)$`,
				`(?i)^(?:your|my|the|some)[_-]`,
				`\.\.\.$`,
			}},
		},
	},
	// A bearer token without its header.
	{
		ID:       "bearer-token",
		Regex:    `(?i)\bbearer[ \t]{1,4}([a-z0-9._~+/=-]{16,})`,
		Entropy:  3.3,
		Keywords: []string{"bearer"},
		Allowlists: []Allowlist{
			// Words.
			{Regexes: []string{
				`^[a-zA-Z_./-]+$`,
				`(?i)^(?:your|my|the|some)[_-]`,
				`\.\.\.$`,
			}},
		},
	},
	// The password of a URL.
	{
		ID:       "url-password",
		Regex:    `(?i)\b[a-z][a-z0-9+.-]{1,30}://[^\s:/?#@"'\x60<>\[\](){}|\\]{0,128}:([^\s/"'\x60<>\[\](){}|\\]{3,256})@[\w.-]`,
		Keywords: []string{"://"},
		Allowlists: []Allowlist{
			// Words that stand for a password, variables, ports.
			{Regexes: []string{
				`(?i)^(?:pass(?:word|wd|phrase)?|pwd|secret|token|user(?:name)?|test|example|changeme|change-?it|admin|root|postgres(?:ql)?|mysql|redis|mongo(?:db)?|guest|rabbitmq|key|api[_-]?key|oauth2?|x-oauth-basic|your[_-].*|my[_-]?(?:pass(?:word)?|secret))$`,
				`^(?:x+|X+|\*+|\.+|•+|_+|-+)$`,
				`^[$%]`,
				`^\d{1,5}$`,
			}},
		},
	},
	// A key, token or signature among the parameters of a URL.
	{
		ID:       "url-parameter",
		Regex:    `(?i)[?&;](?:[a-z0-9_-]{0,30}(?:key|token|secret|passw(?:or)?d|sig|signature|auth|code|credential))=([^\s&#"'\x60<>\[\](){}|\\]{12,})`,
		Entropy:  3,
		Keywords: []string{"key=", "token=", "secret=", "passwd=", "password=", "sig=", "signature=", "auth=", "code=", "credential="},
		Allowlists: []Allowlist{
			// Words, variables.
			{Regexes: []string{
				`^[^0-9]+$`,
				`^[$%]\D`,
				`^[A-Za-z]+(?:[-_][A-Za-z]+)*\d{0,3}$`,
			}},
		},
	},
	// A password in quotes, given to something that is called so.
	{
		ID:       "password",
		Regex:    `(?i)(?:passw(?:or)?d|passphrase|passwort|[_.-]pass|[_.-]pwd|secret)["'\x60]?\s{0,3}(?::=|=>|=|:|,)\s{0,3}(?:"([^"\s\\]{6,256})"|'([^'\s\\]{6,256})'|\x60([^\x60\s\\]{6,256})\x60)`,
		Entropy:  2.3,
		Keywords: []string{"passw", "passphrase", "pass", "pwd", "secret"},
		Allowlists: []Allowlist{
			// Words, names, variables, paths, calls and what stands for a password.
			{Regexes: []string{
				`^(?:[a-z]+|[A-Z]+|[A-Z]?[a-z]+(?:[A-Z][a-z]*)*)$`,
				`^[A-Za-z]+(?:[_.:/ -]+[A-Za-z]+)*[:.*]?$`,
				`^(?:[$<{%/.~#@\[(]|https?:|--)`,
				`[<>{}()\[\]$|=;]`,
				`(?i)(?:example|placeholder|changeme|your[_-]|redacted|dummy|^test|^pass(?:word)?[0-9]{0,3}$|^secret[0-9]{0,2}$)`,
				`^(?:x+|X+|\*+|\.+|•+|_+|-+)$`,
			}},
		},
	},
	// A password given to a variable of the environment or a flag, without quotes.
	{
		ID:       "password-variable",
		Regex:    `(?i)(?:\b|_)(?:[a-z0-9_]{0,40}(?:passw(?:or)?d|passphrase|_pass|_pwd|_secret|_token|api_?key)|--(?:[a-z-]{0,20})(?:password|passwd|token|secret|api-?key))[= ]["']?([^\s"'\x60\\,;&|<>(){}\[\]$%/.~*:@=-][^\s"'\x60\\,;&|<>(){}\[\]$]{7,255})(?:[\s"'\x60;&|,]|\\|\z)`,
		Entropy:  2.75,
		Keywords: []string{"password", "passwd", "passphrase", "_pass", "_pwd", "_secret", "_token", "api_key", "apikey", "--token", "--secret", "api-key"},
		Allowlists: []Allowlist{
			// Without a digit, or without a letter.
			{Regexes: []string{`^[^0-9]+$`, `^[^A-Za-z]+$`}},
			// Words, names, paths and what stands for a password.
			{Regexes: []string{
				`^[A-Za-z]+(?:[_.:/-]+[A-Za-z]+)*[.:]?$`,
				`(?i)(?:example|placeholder|changeme|your[_-]|redacted|dummy|^test|^pass(?:word)?[0-9]{0,3}$|^secret[0-9]{0,2}$)`,
				`^[A-Za-z_]\w*(?:\.\w+)+$`,
				`[/]\w+[/]`,
			}},
			// Prose: what follows a word and a space.
			{All: true, Target: Match, Regexes: []string{`(?i)^[^-]*(?:passw(?:or)?d|passphrase|_pass|_pwd|_secret|_token|api_?key) `}},
		},
	},
	// A password that a person tells.
	{
		ID:       "password-told",
		Regex:    `(?i)(?:\b(?:password|passwd|passphrase|passwort|api key|token)(?:\s(?:is|=|ist)|:)|(?:密码|口令|パスワード|비밀번호)\s{0,2}(?:是|为|:|:|=|は)?)\s{0,3}["'\x60]?([!-~]{8,128})`,
		Entropy:  2.75,
		Keywords: []string{"password", "passwd", "passphrase", "passwort", "api key", "token", "密码", "口令", "パスワード", "비밀번호"},
		Allowlists: []Allowlist{
			// Too little of a mixture to be a password in a sentence.
			{Regexes: []string{
				`^[^0-9]+$`,
				`^[^A-Za-z]+$`,
				`^[A-Za-z]+[0-9]{0,2}[.,;:!?)"'\x60]*$`,
				`[<>{}()\[\]$|\\"'\x60/,;]`,
				`^\w+(?:[.=:]\w+)+[.,;]?$`,
			}},
		},
	},
	// A private key, also in JSON or with numbers before its lines, and one whose end is missing.
	// Between its first line and its last a key holds nothing but itself: what is written about keys may name two first lines.
	{
		ID:       "private-key",
		Regex:    `-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\+[nrt]|["'\x60,+>|]|(?:[^\s:"\\+=]+:)?[0-9]{1,6} ?[→:|\t]){0,20}(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): ?[^\n\\]{0,100}|[A-Za-z0-9+/=]{16,}))+(?:(?:(?:\s|\\+[nrt]|["'\x60,+>|]|(?:[^\s:"\\+=]+:)?[0-9]{1,6} ?[→:|\t]){1,20}[A-Za-z0-9+/=]{1,80})?(?:\s|\\+[nrt]|["'\x60,+>|]|(?:[^\s:"\\+=]+:)?[0-9]{1,6} ?[→:|\t]){0,20}-----END[ A-Z0-9_-]{0,100}KEY(?: BLOCK)?-----)?`,
		Keywords: []string{"-----begin"},
	},
	// A Sourcegraph access token by its prefix.
	// Not every commit's hash near the word is a token.
	{
		ID:       "sourcegraph-access-token",
		Regex:    `\b(sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40})\b`,
		Entropy:  3,
		Keywords: []string{"sgp_"},
	},
	// A JSON Web Token.
	// Backslashes are JSON's.
	{
		ID:       "jwt",
		Regex:    `\b(ey[a-zA-Z0-9]{17,}\.ey[a-zA-Z0-9/_-]{17,}\.(?:[a-zA-Z0-9/_-]{10,}={0,2})?)(?:[\x60'"\s;.,:]|\\+["nrtu/]|\z)`,
		Entropy:  3,
		Keywords: []string{"ey"},
	},
	// A key of a provider of models, a search or a database by its prefix.
	// Keys that say by how they begin whose they are.
	{
		ID:       "provider-api-key",
		Regex:    `\b((?:sk-or-v1-[0-9a-f]{64}|sk-[A-Za-z0-9]{32,64}|gsk_[A-Za-z0-9]{40,64}|xai-[A-Za-z0-9]{60,100}|tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,64}|sbp_[0-9a-f]{40}|figd_[A-Za-z0-9_-]{36,64}))(?:[^A-Za-z0-9_-]|\z)`,
		Entropy:  3,
		Keywords: []string{"sk-or-v1-", "sk-", "gsk_", "xai-", "tvly-", "sbp_", "figd_"},
	},
	// The token of a Telegram bot in the address of its interface.
	{
		ID:       "telegram-bot-url",
		Regex:    `api\.telegram\.org/(?:file/)?bot([0-9]{5,16}:[A-Za-z0-9_-]{30,50})`,
		Keywords: []string{"api.telegram.org/"},
	},
	// The secret of a Discord webhook.
	{
		ID:       "discord-webhook",
		Regex:    `discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{15,22}/([A-Za-z0-9_-]{60,80})`,
		Keywords: []string{"/webhooks/"},
	},
}
