package secrets

// Own are our rules for further secrets, which people expect to be found. A rule with the ID of a gitleaks rule
// replaces that rule.
var Own = []Rule{
	// Credentials of an Authorization header, in HTTP or in code.
	{ID: "authorization-header", Keywords: []string{"authorization"}, find: findAuthorization},
	// A bearer token without its header.
	{ID: "bearer-token", Keywords: []string{"bearer"}, find: findBearer},
	// The password of a URL.
	{ID: "url-password", Keywords: []string{"://"}, find: findAddressPassword},
	// What is assigned to a name for passwords, tokens or keys. The other rules name where it was found.
	{
		ID: "password",
		Keywords: []string{
			"passw", "pass", "passphrase", "passcode", "pwd", "pw", "psk", "mnemonic", "phrase", "secret", "token", "key", "credential", "masterauth", "kennwort",
			"sessionid", "sessid", ".sid", "_auth", "sig", "auth", "code", "private-mac", "priv", "_pat", "appid", "_salt", "_session",
		},
		find: findAssigned,
	},
	{ID: "password-variable", Keywords: []string{"mdp", "senha", "wachtwoord"}, find: findAssigned},
	{ID: "url-parameter", Keywords: []string{"signature="}, find: findAssigned},
	// A key that a person tells.
	{ID: "key-told", Keywords: []string{"密钥", "密鑰", "秘钥", "令牌", "トークン", "токен", "Токен", "토큰", "api-schlüssel", "zugriffsschlüssel", "clé d'api", "clé api", "clave de api", "clave api", "chave de api", "chave da api", "ключ api", "Ключ api", "api-ключ", "apiキー", "api 키", "api 密钥"}, find: findToldKey},
	// A password that a person tells.
	{
		ID:       "password-told",
		Keywords: toldNames,
		find:     findTold,
	},
	// The password of a login that a person tells.
	{
		ID: "login",
		Keywords: []string{
			"login", "log in", "sign in", "logged in", "credentials", "creds", "identifiants", "credenciales", "credenziali", "credenciais", "zugangsdaten", "melde", "anmelde", "anmeldung", "connexion", "acceso", "accesso", "acesso", "use ", "user", "auth=", "in with ", "connect with ", "connect as ", "in as ", "vpn: ", "ssh: ", "rdp: ", "zugang: ", "wifi: ", "wi-fi: ", "wlan: ", "登录 ", "登录：", "登录:", "登陆 ", "登入 ", "логин", "Логин", "вход", "Вход",
		},
		find: findLogin,
	},
	{ID: "login-before", Keywords: []string{"登录", "登陆", "登入", "ログイン", "로그인", " to log in", " to login", " to sign in", "войт", "войд", "Войт", "Войд", "लॉगिन", "لاگ ان"}, find: findLoginBefore},
	{ID: "login-arguments", Keywords: []string{"auth=(", "auth = (", "auth(", "login(", "authenticate(", "sign_in(", "credential(", "credentials(", ".bind(", "bind_s(", ".signin(", "wifi.begin(", "withemailandpassword(", "username_pw_set("}, find: findPair},
	{ID: "connection-arguments", Keywords: []string{"mysqli(", "dbi->connect(", "mysql_connect(", "mysqli_connect(", "pdo(", "getconnection(", "plainauth(", "ldap3.connection(", "sequelize(", "pymssql.connect(", "pymysql.connect(", "mysqldb.connect(", "cx_oracle.connect(", "oracledb.connect(", "jaydebeapi.connect(", "ftplib.ftp(", "adodb.connect(", "pg_connect(", "database(", "odbc_connect(", "oci_connect(", "sqlsrv_connect(", "create_user(", "create_superuser(", "signinwithemailandpassword(auth", "userwithemailandpassword(auth"}, find: findConnection},
	// Passwords among the arguments of commands.
	{
		ID:       "command-password",
		Keywords: []string{"mysql", "mariadb", "sshpass", "mongo", "redis-cli", "ldap", "docker", "podman", "helm", "az", "7z", "zip", "unzip", "ssh-keygen", "keytool", "useradd", "usermod", "sqlcmd", "oathtool", "rar", "unrar", "twine", "openssl", "rabbitmqadmin", "svn", "snmp", "signtool", "cqlsh", "ipmitool", "security", "mcrcon", "influx", "vsql", "altool", "bcp", "osql", "isql", "evil-winrm", "winrs", "psexec", "nxc", "jarsigner", "kadmin"},
		find:     findCommand,
	},
	{ID: "curl-auth-user", Keywords: []string{"curl", "http", "smbclient", "wget", "rpcclient", "winexe", "smbget"}, find: findUserArgument},
	{
		ID:       "piped-password",
		Keywords: []string{"sudo -s", "--password-stdin", "chpasswd", "docker secret create", "create secret generic", "podman secret create", "passwd --stdin", "--with-token", "--passwd-on-stdin", "--passphrase-fd 0", "--passin stdin", "| kinit", "| cryptsetup", "| sudo cryptsetup", "-stdinpass", "secret put ", "secret set ", "-passin stdin", "-pass stdin", "-passout stdin", "| vault login", "| su ", "| pass insert", "| ssh-add", "| sudo tee /etc/wpa", "| keepassxc-cli", "| gh auth login", "| smbpasswd", "| sudo smbpasswd", "| pdbedit", "| veracrypt", "| wg set", "| wg pubkey", "| az login", "| helm registry login", "| skopeo login", "| crane auth login", "| oras login", "| secret-tool store", "| systemd-creds", "| openconnect", "| sudo openconnect", "| passwd", "| ipa ", "| zfs load-key", "| zfs create", "| sudo zfs"},
		find:     findPiped,
	},
	{ID: "printed-key", Keywords: []string{"echo "}, find: findPrinted},
	{ID: "user-and-password", Keywords: []string{"add_user ", "change_password ", "/user:", "wpa_passphrase "}, find: findNamed},
	{ID: "identified-by", Keywords: []string{"identified by ", "_password by "}, find: findIdentified},
	{ID: "positional-password", Keywords: []string{"htpasswd ", "net use ", "net user ", "mc alias set "}, find: findPositional},
	{ID: "slashed-password", Keywords: []string{" /p:", " -p:"}, find: findSlashed},
	{ID: "here-password", Keywords: []string{"<<<"}, find: findHere},
	{ID: "data-source", Keywords: []string{"@tcp(", "@unix("}, find: findSource},
	{
		ID:       "next-word",
		Keywords: []string{"snmp-server community ", "isakmp key ", "enable password ", "wpa-psk ascii 0 ", "wpa-psk ascii 7 ", "password 0 ", "password 7 ", "secret 0 ", "key-string ", "md5 0 ", "ikev1 pre-shared-key ", "pre-shared-key local ", "pre-shared-key remote ", "rootpw --plaintext ", "rootpw ", "::add-mask::", "plain-text-password-value ", "encrypted-password ", "input_pw ", "owner_pw ", "user_pw ", "auth default "},
		find:     findNextWord,
	},
	{ID: "quoted-argument", Keywords: []string{"convertto-securestring ", "setpassword(", "set_password(", "withpassword(", "encrypt_string ", "--secret-string ", "redis:auth(", "redis.auth(", "jedis.auth(", "client.auth("}, find: findQuotedArgument},
	{ID: "positional-token", Keywords: []string{"login ", "unseal ", "activate-refresh-token ", "auth init ", "service install ", "importprivkey ", "dumpprivkey ", "signin ", "nuget push ", "authtoken "}, find: findPositionalToken},
	{ID: "third-word", Keywords: []string{"config http-basic.", "> auth", " -passwd /", " auth-pass"}, find: findThird},
	{ID: "credentials-argument", Keywords: []string{"-creds ", "-creds=", "-credentials ", " -auth ", "]:587 ", "]:465 ", "]:25 "}, find: findCredentialsArgument},
	{ID: "plain-password", Keywords: []string{"{plain}", "{cleartext}"}, find: findPlain},
	{ID: "comma-login", Keywords: []string{"lftp "}, find: findCommaLogin},
	{
		ID:       "printed-password",
		Keywords: []string{"initial-password", "get-login-password", "print-access-token", "show-password", "get-password", "pass show ", "get password", "create token", "token create", "auth token", "print-token"},
		find:     findPrintedPassword,
	},
	// What commands print or are given.
	{
		ID: "shown-secret",
		Keywords: []string{
			"op read ", "find-generic-password ", "find-internet-password ", "with-decryption", "secrets versions access ", "secret-tool lookup ", "secrets get ", "secret show ", "get-secret-value ",
			"keyring get ", "bw get password ", "lpass show ", "gopass show ", "gopass ", "chamber read ", "config get ", "config:get ", "printenv ", "echo $", "echo \"$", "cat ",
			"etcdctl get ", "consul kv get ", "> get ", "op item get ", "kv get -field", "vault read -field", "keepassxc-cli show ", "decrypt --output -", "output ", "get-access-token", "credhub get ", "secret get ", "secret view ",
		},
		find: findShown,
	},
	{ID: "secure-string", Keywords: []string{`"securestring"`}, find: findSecureString},
	{ID: "domain-login", Keywords: []string{"@"}, find: findDomainLogin},
	{ID: "login-file", Keywords: []string{"auth-user-pass <<", "/login.txt", "openvpn.auth", "/auth.txt", "/credentials.txt", "/login.conf", "/userpass", "vpn-auth", "vpn.auth", "openvpn/auth", "openvpn/login", "/pass.txt", "vpn/credentials", "vpn/creds"}, find: findLoginFile},
	{ID: "transfer-login", Keywords: []string{"\nuser ", "> user "}, find: findTransferLogin},
	{ID: "pair-argument", Keywords: []string{" -u ", " -a ", " --auth ", " --auth=", " --userpass ", " --basic-auth ", " --basic-auth=", " --credentials ", " --credentials=", " --creds ", " --creds=", " --http-user ", "stats auth ", "addauth digest ", " login=", " proxy_auth=", " userpass=", " --proxy-user="}, find: findPairArgument},
	{ID: "copied-secret", Keywords: []string{"copy "}, find: findCopied},
	{ID: "account-token", Keywords: []string{"\"ac", "'ac"}, find: findAccountToken},
	{ID: "account-password", Keywords: accountWords(), find: findAccount},
	{ID: "monitor-password", Keywords: []string{` sha "`, ` aes "`, ` md5 "`, ` des "`, " sha-256 \""}, find: findMonitorPassword},
	{ID: "numbered-password", Keywords: []string{"user set password "}, find: findNumbered},
	{ID: "mail-command", Keywords: []string{" login "}, find: findMailCommand},
	{ID: "listed-flag", Keywords: []string{"'-p', '", `"-p", "`, `"-p","`, "'-p','", "'-w', '", `"-w", "`}, find: findListedFlag},
	{ID: "server-login", Keywords: []string{"sp_addlinkedsrvlogin", "sp_addlogin ", "sp_password "}, find: findPositionalLogin},
	{ID: "connected-password", Keywords: []string{" using ", ".logon "}, find: findConnected},
	{ID: "stream-key", Keywords: []string{"rtmp://", "rtmps://", "srt://"}, find: findStreamKey},
	{ID: "typed-line", Keywords: []string{"input password ", "fill secret ", "type password ", "enter password "}, find: findTypedLine},
	{ID: "messaging-key", Keywords: []string{":apa91b"}, find: findMessagingKey},
	{ID: "derived-hash", Keywords: []string{"-pbkdf2-", "-hashed-"}, find: findDerivedHash},
	{ID: "new-password", Keywords: []string{"new one is ", "new one: ", "новый: ", "nouveau : ", "nuevo: ", "nueva: ", "neues: ", "changed it to ", "reset it to ", "it's now ", "it is now ", "new value: ", "i typed ", "i entered ", "typed in ", "unlock it with ", "unlocked it with ", "unlocked with ", "got in with ", "opened it with ", "works with ", "decrypts with "}, find: findNewValue},
	// What a command gives to a secret, and what Terraform marks as one.
	{ID: "set-secret", Keywords: []string{"secret set ", "secrets create ", "secret create ", "secret add "}, find: findSetSecret},
	{ID: "sensitive-value", Keywords: []string{"sensitive"}, find: findSensitive},
	{ID: "typed-password", Keywords: []string{".type(", ".fill(", ".send_keys(", ".sendkeys(", ".setvalue(", "with: "}, find: findTyped},
	{ID: "wallet-key", Keywords: []string{"wallet(", "from_key(", "privatekeytoaccount(", "fromsecretkey(", "fromprivatekey(", "accounts: [", "accounts:[", "accounts = [", "privatekeys: [", "private_keys = [", "private_keys: ["}, find: findWalletKey},
	{ID: "hashed-argument", Keywords: []string{"openssl passwd "}, find: findHashedArgument},
	{ID: "encoded-login", Keywords: []string{"btoa(", "b64encode(", "base64_encode(", "buffer.from("}, find: findEncodedLogin},
	{ID: "decoded-key", Keywords: []string{"fromhex(", "unhexlify(", "buffer.from(", ".decodestring(", "hex.decode(", "frombase64string(", "b64decode("}, find: findDecodedKey},
	{ID: "first-argument", Keywords: []string{"aes.new(", "hmac.new(", "fernet(", "bcrypt(", "hashsync(", "make_password(", "hash::make(", "password_hash(", "hashpw("}, find: findFirstArgument},
	{ID: "mailbox-password", Keywords: []string{"@"}, find: findMailboxPassword},
	{ID: "listed-logins", Keywords: []string{"chpasswd:"}, find: findListedLogins},
	{ID: "registry-password", Keywords: []string{" /d ", " /rp "}, find: findSettingArgument},
	{ID: "attached-key", Keywords: []string{" key '", " key \""}, find: findAttached},
	{ID: "aws-secret", Keywords: []string{"akia", "asia"}, find: findBesideKeyID},
	{ID: "aws-session-token", Keywords: []string{"fwogzxivyxdze", "iqojb3jpz2lux2vj"}, find: findSessionToken},
	{ID: "mailchimp-key", Keywords: []string{"-us"}, find: findMailchimp},
	{ID: "flagged-password", Keywords: []string{" -p ", " -password ", " -pass ", " -pw ", " -w "}, find: findFlagged},
	{ID: "sent-password", Keywords: []string{`send "`, `send -- "`, "sendline("}, find: findSent},
	{ID: "signing-secret", Keywords: []string{"jwt.sign(", "jwt.encode(", "jwt.verify(", "jwt.decode(", "createhmac(", "twilio("}, find: findSecondArgument},
	{ID: "seed-words", Keywords: []string{"seed words", "seed phrase", "recovery words", "mnemonic words", "recovery phrase", "backup phrase", "wallet words", "mnemonic", "bip39", "seed:", "my seed", "wallet seed", "seed =", "seed is", "wiederherstellungsphrase", "seed-phrase", "phrase de récupération", "frase semilla", "frase de recuperación", "frase de recuperação", "сид-фраза", "seed-фраза", "助记词", "ニーモニック", "リカバリーフレーズ", "니모닉", "시드 문구"}, find: findSeedWords},
	{ID: "inserted-password", Keywords: []string{"insert into "}, find: findInserted},
	// Parts of keys and results that other names around them make secret.
	{ID: "jwk", Keywords: []string{`"kty"`}, find: findKeySet},
	{ID: "drawn-password", Keywords: []string{"random_password"}, find: findDrawnResult},
	{ID: "recovery-code", Keywords: recoveryNames, find: findCodes},
	{ID: "vendor-token", Keywords: vendorWords(), find: findVendorToken},
	{ID: "name-and-password", Keywords: []string{"sqlplus ", "jdbc:oracle:thin:", "pass:"}, find: findNameAndPassword},
	// Networks, routers and servers.
	{ID: "network-code", Keywords: []string{"wifi:"}, find: findNetworkCode},
	{ID: "server-key", Keywords: []string{"radius-server ", "tacacs-server ", "message-digest-key ", "ntp authentication-key "}, find: findServerKey},
	{ID: "listed-user", Keywords: []string{" on >", " on #"}, find: findListedUser},
	{ID: "mail-login", Keywords: []string{"auth plain ", "auth login ", "334 ugfzc3dvcmq6\n", "334 ugfzc3dvcmq6\nc: "}, find: findMailLogin},
	{ID: "webhook-url", Keywords: []string{"/hook", "/webhook", "://hook"}, find: findHook},
	// Cookies.
	{ID: "cookie", Keywords: []string{"cookie", "curl -b "}, find: findCookie},
	{ID: "cookie-jar", Keywords: []string{"\ttrue\t/", "\tfalse\t/"}, find: findCookieJar},
	// Hashes of passwords.
	{
		ID:       "password-hash",
		Keywords: []string{"$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2", "{sha}", "{ssha}", "pbkdf2_sha256$", "scram-sha-256$", "scram-sha-1$", "$pbkdf2", "scrypt:", "$krb5tgs$", "$krb5asrep$", "$krb5pa$", "$dcc2$", "$keepass$", "$office$", "$rar5$", "$7z$", "$sshng$", "$ethereum$", "$bitcoin$"},
		find:     findPasswordHash,
	},
	{ID: "pgpass", Keywords: []string{":5432:", ":5433:", ":6432:", ":*:"}, find: findPgpass},
	// Secrets of Kubernetes, and logins in the settings of Docker.
	{ID: "kubernetes-secret-yaml", Keywords: []string{"kind: secret", `kind":"secret"`, `kind": "secret"`, `kind: "secret"`}, find: findClusterSecret},
	{ID: "printed-secret", Keywords: []string{"get secret"}, find: findPrintedSecret},
	{ID: "drawn-key", Keywords: []string{"wg genkey", "wg genpsk", "openssl rand -", "pwgen "}, find: findDrawnKey},
	{ID: "registry-logins", Keywords: []string{"eyjhdxrocyi6"}, find: findRegistryLogins},
	{ID: "registry-login", Keywords: []string{`"auth"`}, find: findRegistryLogin},
	// One-time codes and their seeds.
	{
		ID:       "otp-seed",
		Keywords: []string{"otpauth://", "totp", "otp_secret", "otp secret", "otp_seed", "mfa_secret", "mfa secret", "2fa key", "2fa secret", "setup key", "authenticator", "mfa seed", "otp seed", "2fa seed", "mfa key", "otp key", "two-factor secret", "two-factor key"},
		find:     findSeed,
	},
	{
		ID: "one-time-code",
		Keywords: []string{
			"one-time code", "one time code", "otp", "verification code", "2fa code", "mfa code", "security code", "login code", "access code", "door code", "passcode", "zugangscode", "zugangs-code", "code d'accès", "código de acceso", "codice di accesso", "einmalcode", "bestätigungscode", "pin",
			"code de vérification", "código de verificación", "código de verificação", "codice di verifica", "код подтверждения", "Код подтверждения",
			"验证码", "驗證碼", "認証コード", "確認コード", "인증번호", "인증 코드", "google verification",
		},
		find: findCode,
	},
	// A private key, also in JSON or with numbers before its lines, and parts of keys.
	{
		ID: privateKey,
		Keywords: []string{
			"-----begin", "-----end", "ibaakc", "ibadanbgkqhki", "mhccaqee", "mighageambmg", "mc4caqawbqydk2vw", "b3blbnnzac1rzxktdje", "private-lines:",
		},
		find: findPrivateKey,
	},
	// A private key in PEM format that is encoded once more.
	{ID: "encoded-private-key", Keywords: []string{"ls0tls1crudjtib"}, find: findEncodedKey},
	{ID: "windows-password-hash", Keywords: []string{":::"}, find: findWindowsHash},
	{ID: "telegram-bot-token", Keywords: []string{":aa"}, find: findTelegram},
	{ID: "discord-bot-token", Keywords: []string{"."}, find: findDiscord},
	// An Airtable token is known by its form.
	{
		ID:       "airtable-personnal-access-token",
		Regex:    `\b(pat[[:alnum:]]{14}\.[a-f0-9]{64})\b`,
		Keywords: []string{"pat"},
	},
	// A token of Facebook: an application's number and its secret.
	{ID: "facebook-access-token", Keywords: []string{"|", "%"}, find: findFacebook},
	{ID: "curl-auth-header", Keywords: []string{"curl"}, find: findHeaderArgument},
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
	// Tokens with a mark that their makers put into them.
	{ID: "azure-devops-token", Keywords: []string{"azdo"}, find: findDevopsToken},
	{ID: "nuget-key", Regex: `\b(oy2[a-z0-9]{43})\b`, Keywords: []string{"oy2"}},
	{ID: "backblaze-key", Regex: `\b(K00[0-9][A-Za-z0-9+/]{27})\b`, Keywords: []string{"k00"}},
	// The token of a Telegram bot in the address of its interface.
	{
		ID:       "telegram-bot-url",
		Regex:    `api\.telegram\.org/(?:file/)?bot([0-9]{5,16}:[A-Za-z0-9_-]{30,50})`,
		Keywords: []string{"api.telegram.org/"},
	},
	// The secret of a Discord webhook.
	{
		ID:       "discord-webhook",
		Regex:    `/webhooks/[0-9]{15,22}/([A-Za-z0-9_-]{60,80})`,
		Keywords: []string{"/webhooks/"},
	},
}

// toldNames are words for passwords that no program has among its names.
var toldNames = []string{
	"mot de passe", "code wifi", "code wi-fi", "كلمة سر", "contraseña", "clave", "palavra-passe", "parola", "parolă", "парол", "Парол", "密码", "密碼", "口令", "パスワード", "暗証番号",
	"비밀번호", "암호", "패스워드", "비번", "پاس ورڈ", "گذرواژه", "पासवर्ड", "كلمة المرور", "كلمة مرور", "باسورد", "கடவுச்சொல்", "పాస్\u200cవర్డ్", "పాస్వర్డ్", "પાસવર્ડ", "ਪਾਸਵਰਡ", "パスフレーズ", "كلمة السر", "رمز عبور", "şifre", "Şifre", "hasł", "lösenord", "adgangskode",
	"passord", "salasana", "hesl", "jelszó", "jelszav", "lozink", "kata laluan", "nenosiri", "contrasenya", "contrasena", "kata sandi", "mật khẩu", "รหัสผ่าน", "পাসওয়ার্ড", "κωδικός", "Κωδικός", "סיסמה", "mdp", "senha", "wachtwoord", "wlan-schlüssel", "netzwerkschlüssel", "clé wifi", "clé wi-fi", "key content", "schlüsselinhalt",
}

// recoveryNames are words for the codes with which accounts are recovered.
var recoveryNames = []string{
	"recovery codes", "recovery code", "recovery key:", "recovery key", "backup codes", "backup code", "scratch codes", "emergency codes", "emergency code", "backup-codes", "recovery-codes", "recovery_codes",
	"backup_codes", "recoverycodes", "backupcodes", "wiederherstellungscode", "backup-code", "ersatzcodes", "codes de secours", "codes de récupération", "códigos de recuperación",
	"códigos de respaldo", "códigos de recuperação", "códigos de backup", "codici di recupero", "codici di backup", "резервные коды", "коды восстановления", "恢复代码", "恢复码",
	"备用码", "备用验证码", "バックアップコード", "リカバリーコード", "回復コード", "복구 코드", "백업 코드",
}
