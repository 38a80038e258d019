package redaction_test

import (
	"strings"
	"testing"
)

func TestNamesThatSayWhereASecretIsUsed(t *testing.T) {
	for _, text := range []string{
		"DB_PASSWORD_PROD=Kirsche77!", "passwordStaging = \"Kirsche77!\"", "SMTP_PASS_DEV: Kirsche77!", "remotepass = Kirsche77!", "rootpw: Kirsche77!",
		"password_old='Kirsche77!'",
	} {
		removed(t, "Kirsche77!", text)
	}
	removed(t, "8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92",
		"<password_sha256_hex>8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92</password_sha256_hex>")
	leftAlone(t, "token_type_value: bearer2", "bypass = \"mode-A1\"", "compass: North-East1",
		"next_page_token: k1NM4TvKYT2kh3LC826eymNX", "passwd:         compat systemd", "DB_PASSWORD=${DB_PASSWORD:?missing}", "${PW:+set-it2}")
}

func TestOutputOfCommandsThatShowSecrets(t *testing.T) {
	for _, command := range []string{
		"cat /run/secrets/db_password", "printenv DB_PASSWORD", "echo $DB_PASSWORD", "op read op://infra/db/password", "terraform output -raw db_password",
		"vault kv get -field=password secret/db", "gcloud secrets versions access latest --secret=db", "pulumi config get dbPassword",
		"aws ssm get-parameter --name /db --with-decryption --query Parameter.Value --output text", "security find-generic-password -s x -w",
	} {
		removed(t, "Kirsche-Baum-77", "$ "+command+"\nKirsche-Baum-77\n$ ")
	}
	removed(t, "Kirsche77!", "$ az keyvault secret show -n db\n{ \"id\": \"x\", \"value\": \"Kirsche77!\" }")
	removed(t, "Kirsche77!", "{\"Name\": \"/db\", \"Type\": \"SecureString\", \"Value\": \"Kirsche77!\"}")
	removed(t, "Kirsche77!", "$ cat /etc/openvpn/login.txt\nanna\nKirsche77!\n")
	leftAlone(t, "$ ls /run/secrets\ndb_password2", "$ printenv TOKEN_FILE\n/run/token2", "$ echo ${#DB_PASSWORD}\n24", "$ cat tokens.go\nSection-Two2",
		"$ cat ~/.ssh/id_ed25519.pub\nssh-ed25519 AAAAC3 jo", "$ terraform output -raw address\nhost-Name-77", "$ cat pw.txt\ncat: pw.txt: No such file", "$ heroku config:get LOG_LEVEL\nInfo-Level2")
}

func TestWhatIsPipedToCommandsThatReadSecrets(t *testing.T) {
	for _, command := range []string{
		"echo 'Kirsche-Baum-77' | kinit anna", "printf '%s' 'Kirsche-Baum-77' | cryptsetup luksOpen /dev/sdb1 data -", "echo -n \"Kirsche-Baum-77\" | hdiutil attach -stdinpass x.dmg",
		"echo Kirsche-Baum-77 | wrangler secret put PW", "printf 'Kirsche-Baum-77\n' | pass insert -m web/shop", "echo Kirsche-Baum-77 > /root/luks.key",
	} {
		removed(t, "Kirsche-Baum-77", command)
	}
	leftAlone(t, "echo Section-Two2 | wc -c", "echo Section-Two2 > notes.txt", "printf 'Section-Two2\n' | sort")
}

func TestValuesOfUnusualForm(t *testing.T) {
	removed(t, "a;b-Ox77!", "Server=x;Uid=crm;Pwd={a;b-Ox77!};Encrypt=yes;")
	removed(t, "Kirsche#77", `admin_password = """Kirsche#77"""`)
	removed(t, "[13, 201, 44, 92, 7, 188, 61, 240]", "network_key: [13, 201, 44, 92, 7, 188, 61, 240]")
	removed(t, "0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6", "static const uint8_t aes_key = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6};")
	removed(t, "AQB0x7Kq29vTzL", "password: '{cipher}AQB0x7Kq29vTzL'")
	removed(t, "Baum77!", `password = "Kirsche" + "Baum77!"`)
	removed(t, "Kirsche77!", `var password string = "Kirsche77!"`)
	removed(t, "KIRSCHE77", "       05  DB-PASSWORD  PIC X(12) VALUE 'KIRSCHE77'.")
	removed(t, "Kirsche77!", "default['db']['password']['root'] = 'Kirsche77!'")
	removed(t, "Kirsche77!", `{"value": "Kirsche77!", "key": "password"}`)
	removed(t, "Kirsche77!", "Content-Disposition: form-data; name=\"password\"\r\n\r\nKirsche77!\r\n--b")
	removed(t, "Kirsche77!", "Password.........: Kirsche77!")
	removed(t, "Kirsche77!", " password\n------------\n Kirsche77!\n(1 row)")
	leftAlone(t, "sizes = [13, 201, 44, 92, 7, 188, 61, 240]", "password: {field}Two2", "password_label = \"Password\" + \": \"", "var password string",
		"password   string = iota", `{"value": "text2", "key": "name"}`, "Content-Disposition: form-data; name=\"title\"\r\n\r\nSection2!\r\n")
}

func TestRowsOfDumps(t *testing.T) {
	removed(t, "rk7Tz2mQp9LwXv4HbNcJ5y", "COPY public.tokens (id, owner, token) FROM stdin;\n1\tanna\tq7Rk2mXw9LbT4vHz8NcJ5y\n2\tben\trk7Tz2mQp9LwXv4HbNcJ5y\n\\.")
	removed(t, "Zq83kdPw!1", "INSERT INTO users (name, password) VALUES ('anna', 'Kirsche77!'), ('ben', 'Zq83kdPw!1');")
	leftAlone(t, "COPY public.tokens (id, name) FROM stdin;\n1\tfirst2\n\\.", "INSERT INTO users (name, password) VALUES ('anna2', NULL);", "INSERT INTO pages (id, title) VALUES (1, 'Kirsche77!');")
}

func TestAccountsThatMostSystemsHave(t *testing.T) {
	removed(t, "Kirsche-77", "device ubnt / Kirsche-77")
	removed(t, "Kirsche-77", "admin:Kirsche-77 works on the test instance")
	removed(t, "rk7Tz2mQp9Lw", "Server: root -> rk7Tz2mQp9Lw")
	leftAlone(t, "pages/admin/Users2", "root:wheel", "admin, Section2", "/admin/Settings-Page2", "role admin: read-only", "root -> child", "postgres:16-alpine3")
}

func TestWordsWithASignBetweenThem(t *testing.T) {
	for _, text := range []string{
		"[client]\nuser = root\npassword = Kirsche&Baum", "users:\n  - {name: ana, password: Kirsche!Baum}", "I found the password in config.php: Kirsche!Baum. I won't print it.",
		"+          - name: ADMIN_PASSWORD\n+            value: 'Kirsche!Baum'", "stats auth ops:Kirsche&Baum", "password........................Kirsche!Baum",
	} {
		secret := "Kirsche!Baum"
		if strings.Contains(text, "&") {
			secret = "Kirsche&Baum"
		}
		removed(t, secret, text)
	}
	removed(t, "Kirsche-Baum-77", "$ etcdctl get /app/db/password\n/app/db/password\nKirsche-Baum-77")
	removed(t, "Kirsche77!", `keyring.set_password("smtp", "jo", "Kirsche77!")`)
	removed(t, "Kirsche77!", "createUser monitor SHA \"Kirsche77!\" AES \"x\"")
	removed(t, "wq7kz(!m9qy79wsyvs9xh1e", "DJANGO_SECRET_KEY: wq7kz(!m9qy79wsyvs9xh1e")
	removed(t, "twite on the moor", `"x_passphrase": "twite on the moor"`)
	leftAlone(t, "The phrase \"first answer after loading\" is clear", "TOKEN: compute(!flag2 && b1)", "password: !isValid", "password: isOpen && !done", "the password is in config.php: see there")
}
