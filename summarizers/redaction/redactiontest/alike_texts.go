package redactiontest

// alikePlaces are places for secrets, a text a line.
const alikePlaces = `
password=<PASSWORD>
password: ${DB_PASSWORD}
PASSWORD=$PASSWORD
DB_PASS="$(cat /run/secrets/db)"
password: {{ .Values.password }}
password: "{{ vault_password }}"
api_key: YOUR_API_KEY
API_KEY=your-api-key-here
token: <your token>
--password <password>
--password=PASSWORD
mysql -u root -p
mysql -u root -p app < dump.sql
mysql -u root -p"$MYSQL_PWD" app
mysql -u root -p$PASS app
sshpass -p "$PASS" ssh host
sshpass -e ssh host
sshpass -f /run/secret ssh host
curl -u user:$TOKEN https://example.com
curl -u "$USER:$PASS" https://example.com
curl -u username:password https://example.com
https://user:password@example.com/
https://<user>:<password>@example.com
postgres://${USER}:${PASS}@db/app
postgres://user:****@db/app
redis://:********@cache
password: ********
password: xxxxxxxx
password=XXXXXXXX
secret: changeme
password: CHANGE_ME
password = "changeit"
"password": "string"
"password": "<redacted>"
"password": null
password: ""
password=''
"token": "[FILTERED]"
password: [hidden]
PASSWORD=%PASSWORD%
password: @password@
password = os.environ["DB_PASSWORD"]
password: process.env.DB_PASSWORD,
password=System.getenv("DB_PASS")
password: !vault_password
password: ENC[AES256_GCM,data
api_key: sk-...
export TOKEN=...
Authorization: Bearer ...
Authorization: Bearer {token}
Authorization: Bearer ${token}
Authorization: Basic <base64>
Cookie: <cookie>
Cookie: session=<session-id>
Cookie: $COOKIE
Set-Cookie: theme=dark; Path=/
Set-Cookie: lang=en-US; Max-Age=3600
machine example.com login <login> password <password>
machine HOST login USER password PASS
host:port:database:user:password
hostname:port:database:username:password
{"auths":{"registry.example.com":{}}}
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
login with admin / <password>
login with admin / $PASS
login with username / password
login with Google / GitHub
log in with email/password
TOTP secret: <base32>
otpauth://totp/App:user?secret=SECRET
OTP: ______
your code is: <code>
-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----
-----BEGIN RSA PRIVATE KEY-----\n<key>\n-----END RSA PRIVATE KEY-----
{"private_key": "-----BEGIN PRIVATE KEY-----\\n...\\n-----END PRIVATE KEY-----\\n"}
kind: Secret\ndata:\n  password: <base64>
kind: Secret\ndata:\n  password: {{ .Values.pw | b64enc }}
valueFrom:\n  secretKeyRef:\n    name: db\n    key: password
env:\n- name: DB_PASSWORD\n  valueFrom: x
secretName: my-tls-secret
existingSecret: postgres-credentials
passwordSecret: db-creds
secret: projects/123/secrets/db/versions/latest
password: file:///run/secrets/db
password_file: /run/secrets/db_password
ssl_key_path=/etc/ssl/private/server.key
keyfile: ./certs/key.pem
passwd: /etc/passwd
token_url: https://example.com/oauth/token
auth_url=https://login.example.com/authorize
`

// alikeCode are lines of programs.
const alikeCode = `
password: string;
password?: string
password: String!
password: str = Field(...)
password: Optional[str] = None
readonly password: SecretString;
const password = req.body.password;
const { username, password } = credentials;
let token = await getToken();
token := r.Header.Get("Authorization")
token = generate_token(32)
password = getpass.getpass("Password: ")
password = input("Password: ")
String password = scanner.nextLine();
if (password == confirmPassword) return true;
if password != expected_password:
assert user.password == hashed
func TestPasswordIsRequired(t *testing.T) {
it("rejects a wrong password", async () => {
def test_password_too_short():
describe("password reset", () => {
--- PASS: TestPasswordHash (0.00s)
=== RUN   TestTokenExpiry/with_refresh
ok  	example.com/auth/password	0.031s
password_hash VARCHAR(255) NOT NULL
ALTER TABLE users ADD COLUMN password_digest text;
SELECT password FROM users WHERE id = $1
INSERT INTO users (name, password) VALUES (?, ?)
CREATE USER app WITH PASSWORD :password
ALTER USER app WITH PASSWORD $1
IDENTIFIED BY '<password>'
<input type="password" name="password" placeholder="Password">
<label for="password">Password</label>
<PasswordField label="Password" autoComplete="current-password" />
autocomplete="new-password"
type: "password",
input[type=password] { color: red; }
.password-toggle { right: 8px }
#password-field:focus { outline: none }
secretKeyRef:
key: value
keys = sorted(d.keys())
for key, value in items:
map[string]string{"key": "value"}
cache.set(key, token, ttl=3600)
import { passwordSchema } from './password.schema';
from app.auth.tokens import create_access_token
import jwt_decode from "jwt-decode";
export const PASSWORD_MIN_LENGTH = 12;
PASSWORD_MAX_AGE_DAYS = 90
const TOKEN_TTL_MS = 15 * 60 * 1000;
password_regex = r"^(?=.*[a-z])(?=.*\d).{8,}$"
passwordPattern: /^[A-Za-z0-9]{8,64}$/
@NotBlank(message = "Password must not be blank") String password
raise ValueError("Password must have at least 8 characters")
errors.add(:password, "is too short (minimum is 8 characters)")
return res.status(401).json({ error: "Invalid password" });
throw new Error('password required');
log.Printf("login failed for %s: wrong password", name)
fmt.Println("Enter password:")
echo "Password: "
read -s -p "Password: " PASS
read -rsp "Token: " TOKEN
passwordEncoder.encode(rawPassword)
bcrypt.compare(password, user.passwordHash)
user.setPassword(passwordEncoder.encode(dto.getPassword()));
crypto.randomBytes(32).toString("hex")
hashlib.sha256(password.encode()).hexdigest()
secrets.token_urlsafe(32)
secret = base64.b64decode(os.environ["SECRET"])
config.secret_key_base = ENV.fetch("SECRET_KEY_BASE")
app.config["SECRET_KEY"] = os.urandom(24)
SECRET_KEY = config("SECRET_KEY")
auth = HTTPBasicAuth(username, password)
auth=(user, pw)
session.cookies.get("sessionid")
res.cookie("session", token, { httpOnly: true })
response.set_cookie("theme", "dark")
document.cookie = name + "=" + value;
headers["Authorization"] = f"Bearer {token}"
headers: { Authorization: "Bearer " + token }
req.headers.authorization.split(" ")[1]
Authorization: Bearer token
private static final String PASSWORD_KEY = "user.password";
PASSWORD("password"), TOKEN("token");
enum GrantType { password, refresh_token, client_credentials }
grant_type=password&username=bob
token_type: bearer
tokenType = TokenType.ACCESS_TOKEN
TokenKind::Identifier
lexer.next_token()
tokenizer.encode(text, add_special_tokens=False)
eos_token_id=50256
pad_token: "<pad>"
this.keyCode = event.keyCode || 13
keyPath="user.accountName"
primaryKey: true, autoIncrement: true
foreign_key: users.account_id
FOREIGN KEY (user_id) REFERENCES users(id)
PRIMARY KEY (tenant_id, session_id)
sort_key = lambda item: item.created_at
apiKey: config.get('apiKey'),
api_key=self.settings.api_key
apiVersion: apps/v1
authToken = useSelector(selectAuthToken)
const tokenA1 = lex2.tokenB3;
secretsManager = boto3.client("secretsmanager")
aws_secretsmanager_secret_version.db.secret_string
password = random_password.db.result
password = var.db_password
password = data.vault_generic_secret.db.data["password"]
password_version = 3
passwords = load_passwords("common10k.txt")
PasswordResetToken.objects.filter(user=user)
git config credential.helper store
pass the value through
pass: 12, fail: 3
passed: true
bypass: false
compass=NNW2
passive_mode=on
pass_criteria: "p95<200ms"
passthrough: body1
pwd && ls -la
PWD=/srv/app
OLDPWD=/home/bob/work2
cwd: /home/bob/token-service2
`

// alikeProse are sentences about secrets.
const alikeProse = `
How to set a password: open Settings and choose Security.
To reset your password, click the link that we sent you.
The password must contain at least 8 characters, one digit and one symbol.
The password is stored as a bcrypt hash.
The password is hashed with argon2id before it is stored.
The password is not set.
The password is required for SSH2 connections.
Your password is too short (minimum 8).
password is case-sensitive
Password: at least 12 characters
Passwords do not match.
Password changed successfully.
Set the password with ALTER USER.
The token is invalid or has expired.
The token is sent in the X-Auth-Token header.
The token is base64-encoded.
token: the JWT to verify
@param password the user's password
@param token - OAuth2 access token
:param password: The password to use.
password (string, required): the user's password
- password: the password of the user
| password | string | yes | The user's password |
| TOKEN_TTL | 3600 | lifetime of tokens in seconds |
All 42 tests passed.
All checks have passed: 17/17
12 passed, 3 skipped in 4.21s
The build passed on commit 3f78685.
passes: TestA1, TestB2
pass me the file config2.yaml
use the api key from 1Password
the secret is to use a smaller batch2 size
the key is to keep functions small
The key is user_id2 in that table.
The primary key is (id, created_at).
Press any key to continue.
The secret is mounted at /run/secrets/db1.
The cookie is named session_id.
Cookies: we use them for analytics only.
cookie: see RFC6265 for details
This cookie is set by middleware.go:42.
login with your SSO account
login with admin rights
log in with your username/password
Log in with GitHub / Google2FA
sign in as admin / editor / viewer
credentials are stored in ~/.aws/credentials
credentials: omit
credentials: 'include'
use bob and alice as reviewers
user: bob (admin)
user: bob\npass: see vault
the code is in auth/password.go
The code is 3 lines long.
the code is available under the MIT license
Your code is formatted by gofmt 1.26.
the pin is GPIO17
pin: 3.3V
PIN: none
verification code: not sent yet
status code: 404
OTP: disabled
one-time code support was added in v2.3.1
passphrase: none
Enter your passphrase twice to confirm it.
"passphrase": "Enter the passphrase of your key"
The passphrase must have more than five words.
passphrase: leave empty for no passphrase
mnemonic: a word that is easy to remember and to say
seed phrase: write these words down and keep them safe
password: choose one that you do not use elsewhere
password: "The password must be at least eight characters"
Das Passwort ist falsch.
Das Passwort ist abgelaufen.
Das Passwort ist mindestens 8 Zeichen lang.
Passwort: mindestens 8 Zeichen
Le mot de passe est incorrect.
Le mot de passe est obligatoire.
La contraseña es incorrecta.
La contraseña es demasiado corta.
la clave es practicar
A senha é obrigatória.
A senha é muito curta.
La password è errata.
Неверный пароль
Пароль должен содержать не менее 8 символов
пароль неверный
密码错误
密码不能为空
密码长度至少8位
密码是必填项
密码:至少8个字符
パスワードは8文字以上です
パスワードは必須です
パスワードが違います
비밀번호는 8자 이상이어야 합니다
비밀번호가 일치하지 않습니다
पासवर्ड गलत है
كلمة المرور غير صحيحة
şifre hatalı
hasło jest nieprawidłowe
het wachtwoord is onjuist
mật khẩu không đúng
`

// alikeLabels are labels of user interfaces and their translations.
const alikeLabels = `
"password": "Password",
"password": "Passwort",
"password": "Mot de passe",
"password": "Contraseña",
"password": "密码",
"password": "パスワード",
"password": "비밀번호",
"password": "Пароль",
"password": "كلمة المرور",
"login.password": "Wachtwoord",
"newPassword": "Neues Passwort",
"confirmPassword": "Passwort bestätigen",
"forgotPassword": "Mot de passe oublié ?",
"passwordHint": "Mindestens 8 Zeichen",
"passwordTooShort": "Password too short",
"password_required": "A password is required",
password: "Senha",
password: 'Hasło',
password=Adgangskode
passwordLabel=Lösenord
label.password=Parola
error.password=Das Passwort ist zu kurz
resetPassword: 'Reset password',
token: "Token",
apiKey: "API key",
"apiKey": "Clé API",
secret: "Geheimnis",
"auth.token.expired": "Your session has expired",
msgid "Password"\nmsgstr "Passwort"
<string name="password">Password</string>
<string name="password_hint">Enter your password</string>
<password>Password</password>
<data name="Password"><value>Kennwort</value></data>
<key>NSPasswordDescription</key>\n<string>Used to sign in</string>
placeholder="Password123" disabled
Password:
Password for bob@example.com:
[sudo] password for bob:
Enter passphrase for key '/home/bob/.ssh/id_ed25519':
Username for 'https://github.com':
mot de passe :
Passwort:
`

// alikeOutput is what programs print.
const alikeOutput = `
password authentication failed for user "app2"
FATAL: password authentication failed for user "postgres"
Permission denied (publickey,password).
debug1: Authentications that can continue: publickey,password
sshd[1234]: Failed password for root from 10.0.0.5 port 22 ssh2
sshd[99]: Accepted password for bob from 192.168.1.20 port 51122 ssh2
pam_unix(sudo:auth): authentication failure; logname=bob uid=1000
WARNING! Using --password via the CLI is insecure. Use --password-stdin.
mysql: [Warning] Using a password on the command line interface can be insecure.
  -p, --password string   password
  -u, --user <user:password> Server user and password
      --token string      API token (env TOKEN)
      --api-key KEY       key to use
--password-file=/etc/pw1
usage: tool [--password PASSWORD] [--token TOKEN]
root:x:0:0:root:/root:/bin/bash
bob:x:1000:1000:Bob:/home/bob:/bin/zsh
daemon:*:19000:0:99999:7:::
nobody:!:19000:0:99999:7:::
_apt:x:42:65534::/nonexistent:/usr/sbin/nologin
localhost:5432:postgres
127.0.0.1:5432:app:ready
10:22:33:44:55:66:77:88
2026-01-02T10:11:12Z INFO auth: token refreshed for user 42
auth.go:42:17: undefined: token2
src/auth/password.ts:12:34 - error TS2345: Argument of type 'string'
password.go:17: TODO: rotate
drwxr-xr-x 2 bob bob 4096 Jan  2 10:11 secrets
secrets/db-password.txt
api/v1/token/refresh2
created  secret/db-credentials-v2
secret/db configured
NAME TYPE DATA AGE\ndb Opaque 2 5d
Username: bob
Account: 123456789012
AccessKeyId: (none)
aws_access_key_id = <id>
x-ratelimit-remaining-tokens: 149984
content-length: 1234
cookie jar: 3 cookies
Set-Cookie: session=; Max-Age=0
Set-Cookie: session=deleted; expires=Thu, 01 Jan 1970 00:00:00 GMT
vary: Cookie, Accept-Encoding
access-control-allow-headers: authorization, x-api-key
www-authenticate: Bearer realm="example", error="invalid_token"
scram-sha-256
token count: 12873
Bearer tokens expire after 15 minutes
key=cat1 value=dog2
key: linux-node20-npm-cache
tls: private key does not match public key
ssh-keygen -t ed25519 -N "" -f key
ssh-keygen -lf ~/.ssh/id_rsa.pub
openssl enc -pass env:PASS -in a
openssl rsa -passin file:pw.txt -in k
docker login -u bob --password-stdin
docker run -p 8080:80 nginx
docker run -e POSTGRES_PASSWORD postgres:16
mkdir -p /srv/app2
cp -p a1b2 c3d4
nmap -p 1-65535 host1
ssh -p 2222 bob@host1
scp -P 2222 a.txt host1:
psql -p 5433 -U bob app1
tar -cpf backup1.tar dir2
redis-cli -p 6380 ping
patch -p1 < fix2.diff
curl -b cookies1.txt https://example.com
curl -u bob https://example.com
zip -r out1.zip dir2
unzip -p app1.zip META-INF/MANIFEST.MF
useradd -m -s /bin/bash bob1
passwd bob1
chpasswd < users1.txt
net use Z: \\\\srv\\share1
htop -u bob1
`
