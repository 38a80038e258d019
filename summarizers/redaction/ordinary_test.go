package redaction_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/redaction"
)

func leftAlone(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		require.Equal(t, text, redaction.New("k").Text(t.Context(), text))
	}
}

func removed(t *testing.T, secret, text string) {
	t.Helper()
	require.Contains(t, text, secret)
	require.NotContains(t, redaction.New("k").Text(t.Context(), text), secret)
}

func TestWordsBeforeAName(t *testing.T) {
	leftAlone(t,
		"Base64Url is stored with the token", "Scrypt2Params is what hides the password",
		"UserV2Service is sent after the token", "The Scrypt2Params are as hard as a good password",
	)
	removed(t, "Kirsche77!", "Kirsche77! is the new root password")
	removed(t, "Kirsche77!", "Use Kirsche77! as my password")
	removed(t, "Kirsche77!", "Kirsche77! ist das root Passwort")
}

func TestSentToAPrompt(t *testing.T) {
	for _, text := range []string{
		"child.expect(\"Password:\")\nchild.sendline(\"Zq83kdPw!1\")", "child.expect('assword: ')\nchild.sendline('Zq83kdPw!1')",
		"expect \"assword:\"\nsend \"Zq83kdPw!1\\r\"", "expect \"*assphrase*\"\nsend -- \"Zq83kdPw!1\\n\"",
	} {
		removed(t, "Zq83kdPw!1", text)
	}
	leftAlone(t, "child.expect('assword: ')\nchild.sendline(password)", "child.expect('assword: ')\nchild.sendline(os.environ['PW2'])",
		"expect \"assword:\"\nsend \"$password\\r\"", "child.sendline(\"show version2\")")
}

func TestTicketsAboutRecoveryCodes(t *testing.T) {
	leftAlone(t, "Recovery codes: see JIRA-1234", "backup codes (PR-4512)", "## Recovery codes\n- [x] ABC-4711 print ten codes")
	removed(t, "7KQ2-M9XD", "Recovery codes: 7KQ2-M9XD\nand others")
	removed(t, "4711-0815", "Backup codes: 4711-0815 and others")
}

func TestNamesThatBeginLikeTokens(t *testing.T) {
	leftAlone(t, "Idempotency-Key: key-550e8400-e29b-41d4-a716-446655440000", "node asia-east1-b-pool1-2xlarge-7f9c is not ready")
	removed(t, "pat-na1-550e8400-e29b-41d4-a716-446655440000", "hub pat-na1-550e8400-e29b-41d4-a716-446655440000")
	removed(t, "key-3ax6xnjp29jd6fds4gc373sgvjxteol0", "mailgun key-3ax6xnjp29jd6fds4gc373sgvjxteol0")
}

func TestTypesAreNoAccounts(t *testing.T) {
	leftAlone(t, "Use Win32Api and Sha256Sum from the kit.", "Use Http2Server with Tls13Config here.")
	removed(t, "Kirsche77!", "Log in with Admin and Kirsche77! please")
	removed(t, "Kirsche77!", "Use anna.berg and Kirsche77! please")
}

func TestInputOfCommandsThatReadNoPassword(t *testing.T) {
	leftAlone(t, "openssl dgst -sha256 <<< \"hello world\"", "openssl base64 <<< hello", "gpg --import <<< pubkey2")
	for _, command := range []string{"openssl passwd -6 -stdin", "openssl rsa -in k.pem -passin stdin", "gpg -c --passphrase-fd 0 f", "sudo -S id"} {
		removed(t, "Zq83kdPw!1", command+" <<< 'Zq83kdPw!1'")
	}
}

func TestHowAPasswordIs(t *testing.T) {
	leftAlone(t, "The password is cryptographic.", "The password is unsatisfactory.", "My password is somewhere, but where?",
		"my password is obsolete.", "My password is elsewhere.", "my password is different, yours is expired")
	removed(t, "sonnenblume", "my password is sonnenblume.")
	removed(t, "bluehorsestaple", "The password is bluehorsestaple.")
}

func TestTimesOfTokens(t *testing.T) {
	leftAlone(t, "The token expires on 2024-10-12T10:22:31Z", "The token is valid until 2024-10-12T10:22:31.123Z.", "token: 2024-10-12T10:22:31Z")
}

func TestShortFormOfIs(t *testing.T) {
	removed(t, "Kirsche77!", "the password's Kirsche77!")
	leftAlone(t, "The password's length is checked in validatePassword2.", "The password's hash is stored as argon2id.", "the password's fine", "The password's SHA256 digest",
		"The token's expiry is 2024-10-12T10:22:31Z", "the password's owner2 field", "the password's iteration count is 600000", "The password's salt: 16 bytes")
}

func TestTextsOfAnotherType(t *testing.T) {
	removed(t, "rk7Tz2mQp9Lw", `let password = String::from("rk7Tz2mQp9Lw");`)
	removed(t, "rk7Tz2mQp9Lw", `password: Some("rk7Tz2mQp9Lw"),`)
	removed(t, "rk7Tz2mQp9Lw", `const password = Buffer.from('rk7Tz2mQp9Lw');`)
	leftAlone(t, `let password = String::from("password");`, `password: Some("")`, `password = env("PGPASS2X")`, `token = String::from("identifier_2")`,
		`let password = String::from("Enter your password: ");`, `secret = Buffer.from(secret2, 'base64')`)
}

func TestCommandsThatPrintPasswords(t *testing.T) {
	removed(t, "k3yForTheBackup", "restic init --password-command 'echo k3yForTheBackup'")
	removed(t, "k3yForTheBackup", `export BORG_PASSCOMMAND="echo k3yForTheBackup"`)
	leftAlone(t, `restic --password-command 'echo $PW'`, `restic --password-command 'cat /run/pw2'`, `echo the password-command prints it2`)
}

func TestFlagsOfBuilds(t *testing.T) {
	leftAlone(t, "gradle -u build -p module-a1", "sudo -u deploy make -p all2", "sudo -u ci cargo test -p crate-v2")
	removed(t, "Kirsche77", "tool -u admin -p Kirsche77")
}

func TestPasswordsThatAreWords(t *testing.T) {
	removed(t, "saffron_tide", "datasource:\n  username: orders\n  password: saffron_tide\n  url: jdbc:postgresql://db/orders")
	leftAlone(t, "class User:\n    username: str\n    password: hashed_str\n    email: str", "{\n  user: text_input,\n  password: hidden_input\n}",
		"columns:\n  id: int\n  password: varchar_255\n  name: text")
	removed(t, "harbor-Mist-22", `"bindCredentials": "harbor-Mist-22",`)
	removed(t, "Quince!marmalade", `<Password xsi:type="xsd:string">Quince!marmalade</Password>`)
	removed(t, "{bP0vYd1qTz8=}", "<password>{bP0vYd1qTz8=}</password>")
	leftAlone(t, "<password>{db_password}</password>", "<password>{0}</password>")
}

func TestPassphraseOfALine(t *testing.T) {
	removed(t, "seven cold teapots sing at dawn", "The GPG passphrase is: seven cold teapots sing at dawn\nand no other")
	leftAlone(t, "The passphrase is: kept in the office safe", "passphrase: as long as the rules of the house allow")
}

func TestLoginsWithinASentence(t *testing.T) {
	removed(t, "Vesuvius79", "login with admin / Vesuvius79 and open Settings.")
	removed(t, "0rchid-lamp", "You can sign in as demo@acme.io with 0rchid-lamp; ask me if it's locked.")
	removed(t, "Zima-blizko-5", "Пароль от базы: Zima-blizko-5 (логин postgres)")
	leftAlone(t, "login with google / github2 and continue", "sign in with step3 / step4 as before", "пароль хранится как bcrypt (cost 12)")
}

// A placeholder shows that a word behind it is a second password, which a further search finds.
func TestPasswordsBesidePlaceholders(t *testing.T) {
	text := "Tr0mbone$99 is the password for the staging box:unter22!"
	removed(t, "Tr0mbone$99", text)
	removed(t, "unter22!", text)
}

func TestFlagsAndFieldsThatNameNoPassword(t *testing.T) {
	leftAlone(t,
		"rootpw is set by the kickstart file", "skopeo copy --dest-creds $USER:$PASS a b", "skopeo copy --dest-creds USER:PASSWORD a b",
		"the user enters password twice", "the server resets password hints", "{\"password\":{\"type\":\"string\",\"value\":\"\"}}",
		"{\"password_field\":{\"sensitive\":true,\"value\":\"undefined\"}}", "listen [::]:587 ssl2", "access: read-only / v2beta1",
		"password is four word pass test", "my password was lost when they came back", "- name: TOKEN_FILE\n  value: /run/token2",
		"User.objects.create_user(username, email, password)", "db.createUser(userName1)", "password    string    the password",
	)
	removed(t, "Kirsche77!", "skopeo copy --dest-creds robot:Kirsche77! a b")
	removed(t, "Kirsche77!", "[smtp.x.example]:587 anna:Kirsche77!")
	removed(t, "Kirsche77", "anna:{PLAIN}Kirsche77:1000:1000")
	removed(t, "qxzv kdlw pmtr hbnc", "the gmail password is qxzv kdlw pmtr hbnc")
	removed(t, "kirscheBaum77", "- name: DB_PASS\n  value: kirscheBaum77")
	removed(t, "Kirsche-Baum-77", "{\"db_password\":{\"sensitive\":true,\"value\":\"Kirsche-Baum-77\"}}")
	removed(t, "kirscheBaum77", "Demo: user anna pw kirscheBaum77")
	removed(t, "kirscheBaum77", "User.objects.create_user('anna', 'anna@x.example', 'kirscheBaum77')")
}
