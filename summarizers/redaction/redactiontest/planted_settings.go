package redactiontest

// plantedSettings are secrets in files of settings and in data.
var plantedSettings = []planted{
	{"JSON", (*generator).human, []string{
		`{"username":"bob","password":"@@"}`, `{"db": {"user": "app", "pass": "@@"}}`, `"adminPassword" : "@@",`, `{"smtp_pwd":"@@","port":25}`,
		`{"credentials":{"login":"x","passwd":"@@"}}`, `{"name":"DB_PASSWORD","value":"@@"}`, `{"type":"password","value":"@@"}`, `{\"password\":\"@@\"}`,
		"{\n  \"password\":\n    \"@@\"\n}",
	}},
	{"XML", (*generator).human, []string{
		"<password>@@</password>", "<user>bob</user><pass>@@</pass>", `<property name="hibernate.connection.password">@@</property>`, `<add key="SmtpPassword" value="@@"/>`,
		`<bean><property name="password" value="@@"/></bean>`, `<Setting Name="Pwd"><Value>@@</Value></Setting>`, `<server><id>nexus</id><username>ci</username><password>@@</password></server>`,
		`<datasource user="app" password="@@" />`, "<wsse:Password Type=\"PasswordText\">@@</wsse:Password>", "<key>password</key>\n<string>@@</string>",
	}},
	{"YAML", (*generator).human, []string{
		"db:\n  user: app\n  password: @@\n", "  pass: '@@'", "redis:\n  requirepass: @@", "- name: DB_PASSWORD\n  value: @@\n", "- name: ADMIN_PASS\n  value: \"@@\"",
		"spring.datasource.password: @@", "auth:\n  rootPassword: \"@@\"", "adminPassword: @@ # change later", "password: >-\n  @@\n", "vars:\n  vault_db_pass: @@",
	}},
	{"TOML and ini", (*generator).human, []string{
		"[database]\nuser = \"app\"\npassword = \"@@\"\n", "[mail]\npass=@@\n", "[client]\nuser=root\npassword=@@\n", "smtp_password = @@", "[ldap]\nbind_password='@@'",
		"requirepass @@", "[http-proxy]\nproxy_pass_word = @@", "rpcpassword=@@", "wpa_passphrase=@@", "psk=\"@@\"", "masterauth @@",
	}},
	{"properties", (*generator).human, []string{
		"spring.datasource.password=@@", "javax.net.ssl.keyStorePassword=@@", "-Djavax.net.ssl.trustStorePassword=@@", "keystore.password = @@", "mail.smtp.pass: @@",
		`<connectionStrings><add name="x" connectionString="Server=db;User Id=sa;Password=@@;" /></connectionStrings>`, `"ConnectionStrings": {"Default": "Host=db;Username=app;Password=@@"}`,
		"signing.keyPassword=@@", "storePassword=@@\nkeyAlias=upload",
	}},
	{"code", (*generator).human, []string{
		`password = "@@"`, `const dbPassword = '@@';`, `auth=("bob", "@@")`, `String pwd = "@@";`, `conn.login("bob@example.com", "@@")`, `define('DB_PASSWORD', '@@');`,
		`client.connect(host, username="bob", password="@@")`, `cfg.Passwd = "@@"`, `os.environ["DB_PASS"] = "@@"`, `$pass = '@@';`, `:password => "@@"`, `setPassword("@@")`,
		`private static final String PASSWORD = "@@";`, "passwd: `@@`,", `await page.fill('#password', '@@')`, `await page.type("input[name=password]", "@@")`, `requests.get(u, auth=HTTPBasicAuth('bob', '@@'))`,
		`let password: string = "@@";`, `val password: String = "@@"`, `password := "@@"`, `PASSWORD = b'@@'`, `System.setProperty("db.password", "@@");`,
	}},
	{"npmrc and pypirc", (*generator).strong, []string{
		"//npm.example.com/:_password=@@", "//npm.example.com/:_authToken=@@", "_auth=@@\nregistry=https://npm.example.com", "[pypi]\nusername = bob\npassword = @@",
		"[distutils]\nindex-servers = x\n[x]\nrepository: https://e.example\nusername: u\npassword: @@\n",
	}},
	{"docker auth", (*generator).login, []string{
		`{"auths":{"registry.example.com":{"auth":"@@"}}}`, "{\n\t\"auths\": {\n\t\t\"https://index.docker.io/v1/\": {\n\t\t\t\"auth\": \"@@\"\n\t\t}\n\t}\n}", `"identitytoken": "@@"`,
	}},
	{"k8s secret", (*generator).encoded, []string{
		"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  password: @@\n", "kind: Secret\ndata:\n  tls-thing: @@\n", "apiVersion: v1\ndata:\n  admin-password: @@\nkind: Secret\n",
		`{"apiVersion":"v1","kind":"Secret","data":{"value":"@@"}}`, "$ kubectl get secret db -o jsonpath='{.data.password}'\n@@\n",
	}},
	{"k8s secret in words", (*generator).human, []string{
		"kind: Secret\nstringData:\n  admin: @@\n", "kubectl create secret generic db --from-literal=password=@@",
	}},
	{"hex key", hexes(64), []string{
		"SECRET_KEY=@@", "encryption_key: @@", `"signingKey": "@@"`, "ENCRYPTION_KEY = '@@'", "aes_key=0x@@", "SESSION_SECRET=@@", "hmac secret: @@", "master key: @@", "the private key is 0x@@", "--encryption-key @@",
	}},
	{"short hex key", hexes(32), []string{
		"api_key=@@", "X-Api-Key: @@", "appSecret=@@", `"apikey":"@@"`, "RAILS_MASTER_KEY=@@", "config/master.key:\n@@\n", "auth_token: @@", "cookie_secret = \"@@\"", "licenseKey: @@", "API key: @@",
	}},
	{"htpasswd and shadow", func(g *generator) string { return g.of(alnum+"./", 22) }, []string{
		"bob:$apr1$8kd7sjw2$@@", "root:$6$Zk8sL2qp$@@:19000:0:99999:7:::", "bob:$2y$10$@@", "admin:{SHA}@@=", "bob:$5$abcdEFGH$@@:18000::::::",
		"bob:$y$j9T$aBcD1234$@@:19500:0:99999:7:::", "hash: $argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$@@", "\"password_hash\": \"$2b$12$@@\"", "PBKDF2: pbkdf2_sha256$260000$salt12$@@",
	}},
}
