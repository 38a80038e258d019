package redactiontest

// plantedSentences are secrets that people tell.
var plantedSentences = []planted{
	{"login with", (*generator).human, []string{
		"login with admin / @@", "log in as admin/@@ please", "Login: admin, password: @@", "You can sign in with bob@example.com / @@ on staging.", "credentials are admin:@@", "creds: bob / @@",
		"user: admin\npass: @@", "use admin and @@ to log in", "Username: bob Password: @@", "the admin account's password was changed to @@ yesterday", "log in with user admin and password @@",
	}},
	{"English", (*generator).human, []string{
		"my password is @@", "The root password: @@.", "password for the wifi is @@, thanks", "the db pw is @@", "pwd: @@", "pw = @@", "it asks for a password, type @@", "try the password \"@@\" first",
		"I set the password to @@", "password changed from the old one to @@", "use `@@` as the password", "pass: @@", "The new password will be @@ from Monday on", "Temporary password: @@",
	}},
	{"German", (*generator).human, []string{
		"Das Passwort ist @@", "Passwort: @@", "mein Kennwort lautet @@.", "Das Passwort für die Datenbank ist @@", "Kennwort: @@", "Melde dich mit admin / @@ an", "Zugangsdaten: admin / @@", "Das neue Passwort lautet: @@",
	}},
	{"French", (*generator).human, []string{
		"le mot de passe est @@", "Mot de passe : @@", "mon mot de passe c'est @@", "Le mot de passe de la base est « @@ »", "identifiants : admin / @@", "mdp: @@",
	}},
	{"Spanish", (*generator).human, []string{
		"la contraseña es @@", "Contraseña: @@", "mi clave es @@", "usa la contraseña @@ para entrar", "La nueva contraseña será @@", "credenciales: admin / @@",
	}},
	{"Portuguese", (*generator).human, []string{
		"a senha é @@", "Senha: @@", "minha palavra-passe é @@", "a senha do banco é @@", "senha=@@",
	}},
	{"Italian", (*generator).human, []string{"la password è @@", "la parola d'ordine è @@", "Password: @@ (non condividerla)", "credenziali: admin / @@"}},
	{"Russian", (*generator).human, []string{"пароль @@", "Пароль: @@", "пароль от базы — @@", "мой пароль @@, не забудь", "логин admin пароль @@"}},
	{"Chinese", (*generator).human, []string{"密码是@@", "密码:@@", "数据库密码为 @@", "口令:@@。", "账号admin,密码@@", "用户名:admin 密码:@@", "密碼是 @@"}},
	{"Japanese", (*generator).human, []string{"パスワードは@@です", "パスワード:@@", "パスワードは「@@」です", "暗証番号とパスワードは @@ です", "ID: admin パスワード: @@"}},
	{"Korean", (*generator).human, []string{"비밀번호는 @@ 입니다", "비밀번호: @@", "암호는 @@입니다", "패스워드 : @@"}},
	{"Hindi", (*generator).human, []string{"पासवर्ड @@ है", "पासवर्ड: @@", "मेरा पासवर्ड है @@"}},
	{"Arabic", (*generator).human, []string{"كلمة المرور هي @@", "كلمة المرور: @@", "كلمة السر @@"}},
	{"Turkish", (*generator).human, []string{"şifre @@", "Şifre: @@", "parola: @@", "veritabanı parolası @@"}},
	{"Polish", (*generator).human, []string{"hasło to @@", "Hasło: @@", "hasło do bazy: @@"}},
	{"Dutch", (*generator).human, []string{"het wachtwoord is @@", "Wachtwoord: @@"}},
	{"other languages", (*generator).human, []string{
		"lösenordet är @@", "Lösenord: @@", "adgangskode: @@", "salasana on @@", "heslo je @@", "Heslo: @@", "a jelszó @@", "parola este @@", "пароль: @@", "ο κωδικός είναι @@", "הסיסמה היא @@",
		"mật khẩu là @@", "Mật khẩu: @@", "kata sandi: @@", "kata sandinya adalah @@", "รหัสผ่าน: @@", "পাসওয়ার্ড: @@", "رمز عبور: @@", "passordet er @@",
	}},
	{"passphrase", (*generator).phrase, []string{
		"passphrase: @@", "The passphrase is \"@@\"", "passphrase = '@@'", "my passphrase is @@.", "GPG_PASSPHRASE=\"@@\"", "password: \"@@\"", "ssh-keygen -N \"@@\" -f key", "{\"passphrase\":\"@@\"}",
		"seed phrase: @@ @@", "gpg --passphrase '@@' -d x.gpg", "mnemonic = \"@@ @@\"", "Passwortsatz: @@",
	}},
	{"code told", numbers(6), []string{
		"your one-time code is @@", "OTP: @@", "verification code: @@", "2FA code is @@", "Ihr Einmalcode lautet @@", "验证码:@@", "验证码是 @@", "code de vérification : @@", "código de verificación: @@",
		"PIN: @@", "the pin is @@", "G-@@ is your Google verification code", "認証コード:@@", "@@ is your verification code", "Код подтверждения: @@", "인증번호 @@", "enter the security code @@ within 5 minutes",
	}},
}
