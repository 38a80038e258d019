package redaction_test

import "testing"

func TestKeysInPrograms(t *testing.T) {
	removed(t, "rk7Tz2mQp9LwX4vB", "AES.new(b'rk7Tz2mQp9LwX4vB', AES.MODE_CBC, iv)")
	removed(t, "rk7Tz2mQp9LwX4vB", "crypto.createHmac('sha256', 'rk7Tz2mQp9LwX4vB')")
	removed(t, "Zq83kdPw1", "btoa(\"kim:Zq83kdPw1\")")
	removed(t, "Zq83kdPw1", "password <- \"Zq83kdPw1\"")
	removed(t, "rk7Tz2mQp9LwX4vB", "if ($http_x_secret != \"rk7Tz2mQp9LwX4vB\") { return 403; }")
	leftAlone(t, "AES.new(key, AES.MODE_CBC, iv)", "hmac.new(b'secret', msg)", "btoa(\"user:password\")", "btoa('plain text')", "if (password != \"\") {")
}

func TestListsOfLogins(t *testing.T) {
	removed(t, "Zq83kdPw1", "[smtp.acme.io]:587 kim@acme.io:Zq83kdPw1")
	removed(t, "Zq83kdPw1", "chpasswd:\n  list: |\n    root:Zq83kdPw1\n")
	leftAlone(t, "git@github.com:acme/App2x", "kim@acme.io: please look", "scp a kim@host.acme.io:file2.txt", "see kim@acme.io:8080", "chpasswd:\n  expire: false\nother:Zq83kdPw1")
}

func TestSettingsOfWindowsAndMac(t *testing.T) {
	removed(t, "Zq83kdPw1", `reg add HKLM\Winlogon /v DefaultPassword /t REG_SZ /d Zq83kdPw1 /f`)
	removed(t, "Zq83kdPw1", "schtasks /create /tn t /ru kim /rp Zq83kdPw1")
	removed(t, "Zq83kdPw1", "security unlock-keychain -p Zq83kdPw1 build.keychain")
	removed(t, "Zq83kdPw1", "dscl . -passwd /Users/kim Zq83kdPw1")
	leftAlone(t, `reg add HKLM\Run /v Tool /t REG_SZ /d C:\tool2.exe`, "cd /d C2drive", "tool /rp x2y3z4")
}

func TestKeysThatBeginLikePaths(t *testing.T) {
	key := "/7L9QXFf7zAcpdCNB1ft" + "HYyr+keCJe2vWwc2VOSOYW7="
	removed(t, key, "PrivateKey = "+key)
	leftAlone(t, "PrivateKey = /etc/wireguard/Host2Key4/Private.key", "token: /var/run/secrets/Token2/A1B2C3D4")
}

func TestIdentifiersAsPasswords(t *testing.T) {
	removed(t, "328a5855-99a3-43d6-952f-a25f83507f7f", "Using generated security password: 328a5855-99a3-43d6-952f-a25f83507f7f")
	leftAlone(t, "password of 328a5855-99a3-43d6-952f-a25f83507f7f was changed", "token id: 328a5855-99a3-43d6-952f-a25f83507f7f")
}
