package redactiontest

// plantedTokens are secrets that machines make for each other.
var plantedTokens = []planted{
	{"AWS session token", func(g *generator) string { return "FwoGZXIvYXdz" + "E" + g.of(b64, 260) + "==" }, []string{
		"export AWS_SESSION_TOKEN=@@", "aws_session_token = @@", `"SessionToken": "@@"`, "x-amz-security-token: @@", "X-Amz-Security-Token=@@&X-Amz-Date=1", "<SessionToken>@@</SessionToken>", `sessionToken: '@@',`,
	}},
	{"AWS secret", func(g *generator) string { return g.mixed(b64, 40) }, []string{
		"aws_secret_access_key=@@", "<SecretAccessKey>@@</SecretAccessKey>", `"secretAccessKey":"@@"`, "AWS Secret Access Key [None]: @@", "secret_key: @@", "AWS_SECRET=@@",
	}},
	{"cookie", func(g *generator) string { return g.mixed(alnum, 32) }, []string{
		"Cookie: sessionid=@@; theme=dark", "Set-Cookie: sid=@@; Path=/; HttpOnly", "< set-cookie: JSESSIONID=@@; Path=/app; Secure", "curl -b 'PHPSESSID=@@' https://example.com", "curl --cookie \"auth=@@\" https://example.com",
		`"cookie": "connect.sid=@@"`, "document.cookie = \"session=@@\"", "cookie: theme=dark; remember_token=@@; lang=en", "Cookie: _app_session=@@", `-H 'cookie: user_session=@@'`, `cookies={"session": "@@"}`,
		".example.com\tTRUE\t/\tTRUE\t1790000000\tsessionid\t@@",
	}},
	{"header", func(g *generator) string { return g.mixed(url64, 36) }, []string{
		"X-Auth-Token: @@", "Authorization: Bearer @@", "authorization: @@", "Proxy-Authorization: Basic @@", "X-CSRF-Token: @@", "x-access-token: @@", `headers["X-Api-Key"] = "@@"`, "PRIVATE-TOKEN: @@",
		"X-Vault-Token: @@", "api-key: @@", `-H "Authorization: Token @@"`, "Ocp-Apim-Subscription-Key: @@", "x-goog-api-key: @@",
	}},
	{"Telegram", func(g *generator) string { return g.of("123456789", 1) + g.of(digits, 9) + ":AA" + g.of(url64, 33) }, []string{
		"TELEGRAM_BOT_TOKEN=@@", "https://api.telegram.org/bot@@/sendMessage", "Use this token to access the HTTP API:\n@@\nKeep it secure", "bot = telebot.TeleBot('@@')", "@@",
	}},
	{"Discord", func(g *generator) string {
		return "M" + g.mixed(alnum, 23) + "." + g.mixed(alnum, 6) + "." + g.mixed(url64, 38)
	}, []string{
		"DISCORD_TOKEN=@@", "client.login('@@')", "bot.run(\"@@\")", "Authorization: Bot @@", "@@",
	}},
	{"Slack", func(g *generator) string {
		return "xox" + "b-" + g.of(digits, 12) + "-" + g.of(digits, 13) + "-" + g.of(alnum, 24)
	}, []string{
		"slack token @@", "SLACK_TOKEN: @@", "@@",
	}},
	{"TOTP seed", func(g *generator) string { return g.of(base32, 32) }, []string{
		"otpauth://totp/App:bob@example.com?secret=@@&issuer=App", "TOTP secret: @@", "totp_seed=@@", "oathtool --totp -b @@", "mfa_secret = \"@@\"", "2FA key: @@", "pyotp.TOTP('@@')", "Setup key: @@", `"otp_secret": "@@"`,
	}},
	{"token in data", func(g *generator) string { return g.mixed(url64, 40) }, []string{
		`{"access_token":"@@","token_type":"bearer","expires_in":3600}`, `{"refresh_token":"@@"}`, "refreshToken: @@", "access_token=@@&state=1", "https://example.com/cb?code=1&access_token=@@", "client_secret=@@&grant_type=client_credentials",
		"webhook_secret: @@", "bot_token = '@@'", "<token>@@</token>", "<apiKey>@@</apiKey>", "jwt_secret: @@", "id_token=@@", "token: @@", "my token is @@", "the api key is @@", "API token = @@", "personal access token: @@",
		"deploy_key_token=@@", "https://example.com/x?sig=@@", "?X-Amz-Signature=@@&x=1", "SharedAccessKey=@@;EntityPath=x", "AccountKey=@@;EndpointSuffix=core.windows.net", "export NPM_TOKEN=@@", "GITHUB_TOKEN=@@ gh pr list",
		"gh secret set DEPLOY_TOKEN --body @@", "echo @@ > ~/.token", "let apiToken = \"@@\"", "const secret = '@@'", "accessKeySecret: @@",
	}},
	{"key middle", func(g *generator) string { return g.of(b64, 64) }, []string{
		"MIIEpAIBAAKCAQEA" + "@@\n@@\n@@\n-----END RSA PRIVATE KEY-----", "-----BEGIN OPENSSH PRIVATE KEY-----\n@@\n@@\n@@\n", "$ sed -n 2,9p id_rsa\n@@\n@@\n@@\n@@\nAbCd12==\n-----END OPENSSH PRIVATE KEY-----\n",
		"...\n@@\n@@\n@@\n-----END PRIVATE KEY-----", "$ tail -5 server.key\n@@\n@@\n@@\n-----END EC PRIVATE KEY-----", "b3BlbnNzaC1rZXktdjEAAAAA" + "@@\n@@\n@@\n@@", `"key": "@@\n@@\n@@\n-----END PRIVATE KEY-----\n"`,
	}},
	{"over two lines", func(g *generator) string { return g.mixed(alnum, 20) }, []string{
		"password:\n@@", "The password is\n@@\n", "Password:\n\n    @@\n", "API key:\n```\n@@\n```", "export API_SECRET=\\\n@@", "Token:\n\n@@\n", "--password \\\n  @@", "the new password:\n\n`@@`",
	}},
}
