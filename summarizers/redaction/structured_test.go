package redaction_test

import "testing"

// A word without a digit is a password where a setting has it, and may be a variable where a call has it.
func TestArgumentsOfCalls(t *testing.T) {
	removed(t, "sonnenblume", "password=sonnenblume")
	removed(t, "sonnenblume", "mount -o username=kim,password=sonnenblume,vers=3 //nas/share")
	removed(t, "sonnenblume", "password=sonnenblume,username=kim")
	leftAlone(t, "connect(host, password=sonnenblume)", "connect(host, password=sonnenblume, port=2)", "f(user=u,password=sonnenblume,port=p)",
		"connect(\n  password=sonnenblume,\n)")
}

func TestNamesInTables(t *testing.T) {
	removed(t, "Zq83kdPw!1", "  + admin_password                  = \"Zq83kdPw!1\"")
	removed(t, "Zq83kdPw!1", "  ~ master_password = \"Kirsche77!\" -> \"Zq83kdPw!1\"")
	leftAlone(t, "  ~ master_password = \"${var.a}\" -> \"${var.b}\"", "  ~ tag = \"a1\" -> \"b2\"")
}

func TestValuesThatProgramsPrint(t *testing.T) {
	removed(t, "rktzmqplw4", "map[password:rktzmqplw4 user:kim]")
	removed(t, "rk7Tz2mQp9Lw", "array(2) {\n  [\"password\"]=>\n  string(12) \"rk7Tz2mQp9Lw\"\n}")
	removed(t, "3f1d8dbb6344f5225b2f4e88e13f3706", "id | user | password_hash\n1 | kim | 3f1d8dbb6344f5225b2f4e88e13f3706")
	removed(t, "rk7Tz2mQp9Lw", "$ argocd admin initial-password -n argocd\nrk7Tz2mQp9Lw\n")
	removed(t, "rk7Tz2mQp9Lw", "New value: rk7Tz2mQp9Lw\nPassword for the [elastic] user successfully reset.")
	leftAlone(t, "map[password: user:kim]", "array(1) {\n  [\"password\"]=>\n  string(0) \"\"\n}", "New value: build42x9A\nof the counter",
		"$ argocd admin initial-password --help\nusage: argocd\n", "password => string(255)")
}

func TestSettingsBelowANameForSecrets(t *testing.T) {
	removed(t, "rk7Tz2mQp9LwX4vB8nK1", "secrets:\n  cookie: a\n  signing: rk7Tz2mQp9LwX4vB8nK1")
	removed(t, "rk7Tz2mQp9LwX4vB8nK1", "clientSecret: !secret rk7Tz2mQp9LwX4vB8nK1")
	leftAlone(t, "secrets:\n  source: db\nother: rk7Tz2mQp9LwX4vB8nK1", "secrets:\n  - name: web-tls\n", "password: !vault |\n", "clientSecret: !Ref Name")
}

func TestSettingsWithoutASign(t *testing.T) {
	removed(t, "Kirsche77!", "binddn cn=proxy\nbindpw Kirsche77!\n")
	removed(t, "Zq83kdPw1", "pulumi config set --secret dbPassword Zq83kdPw1")
	removed(t, "Zq83kdPw1", "consul kv put app/db/password Zq83kdPw1")
	removed(t, "Zq83kdPw1", "nmcli dev wifi connect Office password Zq83kdPw1")
	leftAlone(t, "bindpw is read from the file", "git config set password helper", "consul kv get app/db/password v2")
}

func TestTokensWithoutAFlag(t *testing.T) {
	removed(t, "rk7Tz2mQp9LwX4vB8nK1", "cargo login rk7Tz2mQp9LwX4vB8nK1")
	removed(t, "rk7Tz2mQp9LwX4vB8nK1", "vault operator unseal rk7Tz2mQp9LwX4vB8nK1")
	removed(t, "Zq83kdPw1", "poetry config http-basic.acme kim Zq83kdPw1")
	removed(t, "Zq83kdPw1", "127.0.0.1:6379> AUTH default Zq83kdPw1")
	removed(t, "Zq83kdPw1", "lftp -u deploy,Zq83kdPw1 sftp://files.acme.io")
	removed(t, "Zq83kdPw1", "signtool sign /f cert.pfx /p Zq83kdPw1 app.exe")
	removed(t, "Zq83kdPw1", "snmpget -v3 -u ops -A Zq83kdPw1 sw1")
	removed(t, "Zq83kdPw1", "useradd -p \"$(openssl passwd -1 Zq83kdPw1)\" kim")
	removed(t, "Zq83kdPw1", "printf '%s\\n' \"Zq83kdPw1\" | podman login --password-stdin quay.io")
	leftAlone(t, "cargo login --registry acme", "docker login registry.example.com", "lftp -u deploy sftp://files.acme.io", "signtool verify /pa app.exe",
		"openssl passwd -6 -stdin", "az login kim@acme2.example.com")
}

func TestSecretsAmongArguments(t *testing.T) {
	removed(t, "Zq83kdPw1", "smtp.PlainAuth(\"\", \"kim@acme.io\", \"Zq83kdPw1\", \"smtp.acme.io\")")
	removed(t, "Zq83kdPw1", "cy.get('input[name=password]').type('Zq83kdPw1')")
	removed(t, "Zq83kdPw1", "ATTACH DATABASE 'e.db' AS e KEY 'Zq83kdPw1';")
	key := "c0ffee" + "1d8dbb6344f5225b2f4e88e13f37067eac7e27ff2dc719079852c06014"
	removed(t, key, "new ethers.Wallet(\"0x"+key+"\", provider)")
	leftAlone(t, "cy.get('input[name=password]').type('wrong')", "cy.get('#search').type('Zq83kdPw1')", "ALTER TABLE t DROP KEY 'idx2';", "new Wallet(\"main\")")
}

func TestUnknownSchemes(t *testing.T) {
	removed(t, "00rk7Tz2mQp9LwX4vB8nK1", "Authorization: SSWS 00rk7Tz2mQp9LwX4vB8nK1")
	removed(t, "3f1d8dbb6344f5225b2f4e88", "Authorization: AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature=3f1d8dbb6344f5225b2f4e88")
	leftAlone(t, "Authorization: see section2 of RFC7235", "authorization: required when token2 is set")
}

// Letters alone are a password where one is told, if no words are among them.
func TestDrawnLetters(t *testing.T) {
	removed(t, "MsBhlzfWgj", "the password is MsBhlzfWgj")
	removed(t, "MsBhlzfWgj", "der Benutzer kim und das Passwort MsBhlzfWgj")
	leftAlone(t, "the password is GitLabToken", "the password is NotNull", "The password is WeakHash", "user edits between cp2 and prompt3")
}

func TestWhatOnlyNamesAPassword(t *testing.T) {
	leftAlone(t, "pass: 120034, fail: 3", "clave: primaria", "mnemonic push pop call ret nop lea xor cmp test inc dec shl", "mnemonic: mov add sub jmp",
		"tool -u alice -p project-x2", "cache-key: go-3f1d8dbb6344f5225b2f4e88e13f37067eac7e27")
	removed(t, "120034", "pass: 120034")
	removed(t, "Zq83-kdPw", "tool -u alice -p Zq83-kdPw")
}
