package redactiontest

// plantedCommands are secrets in the lines of a shell.
var plantedCommands = []planted{
	{"mysql -p", (*generator).human, []string{
		"mysql -u root -p@@ -h db.internal app", "$ mysqldump -uapp -p'@@' shop > dump.sql", "mysqladmin -h 10.0.0.7 -u admin -p@@ status",
		`mariadb -u app -p"@@" -e "select 1"`, "mysql --user=root --password=@@ app",
	}},
	{"sshpass", (*generator).human, []string{
		"sshpass -p @@ ssh deploy@10.0.0.4 uptime", "sshpass -p '@@' scp a.tar root@host:/tmp", `sshpass -p"@@" rsync -a . host:/srv`,
		"export SSHPASS=@@; sshpass -e ssh host",
	}},
	{"flag", (*generator).strong, []string{
		"helm install db ./chart --set auth.password=@@", "docker login -u robot -p @@ registry.example.com", "psql --host db --password @@ app",
		"./admin create-user --name bob --password '@@'", "redis-cli -h cache -a @@ ping", "az login --service-principal -u app -p @@ --tenant t",
		"ldapsearch -x -D cn=admin,dc=example -w @@ -b dc=example", "smbclient //files/share -U 'corp\\bob%@@'", "restic --password-command 'echo @@' snapshots",
		"openssl enc -aes-256-cbc -pass pass:@@ -in a -out b", "zip -P @@ out.zip a b", "7z x -p@@ archive.7z", "unzip -P '@@' backup.zip",
		"keytool -list -keystore k.jks -storepass @@", "vault login -method=userpass username=bob password=@@", "wget --http-password=@@ --user=bob https://example.com/a",
		"curl --user bob:@@ https://example.com", "curl -u 'bob:@@' https://example.com/x", "http -a bob:@@ GET https://example.com", "mongosh -u root -p @@ --authenticationDatabase admin",
		"echo '@@' | sudo -S apt-get update", "echo @@ | docker login -u robot --password-stdin", "net use Z: \\\\srv\\share /user:corp\\bob @@",
		"sqlplus system/@@@//db:1521/XE", "useradd -p @@ bob", "echo 'bob:@@' | chpasswd", "rabbitmqctl add_user bob @@", "gpg --batch --passphrase @@ -d f.gpg",
		"ansible-playbook site.yml -e ansible_become_pass=@@", "tool --api-token @@ sync", "tool --secret-key=@@ sync", "expect -c 'send \"@@\\r\"' # password",
	}},
	{"environment", (*generator).human, []string{
		"DB_PASS=@@", "export DB_PASS='@@'\n", "POSTGRES_PASSWORD=@@ docker compose up", "set MYSQL_ROOT_PASSWORD=@@\r\n", "$env:APP_PWD = \"@@\"",
		"ENV ADMIN_PASSWORD @@", "HOME=/root\nSMTP_PASS=@@\nSHELL=/bin/bash", "declare -x REDIS_PASSWORD=\"@@\"", "docker run -e MARIADB_PASSWORD=@@ mariadb:11",
		"heroku config:set MAIL_PASSWORD=@@", "setx FTP_PWD @@", "DATABASE_PASSWORD: @@", "LDAP_BIND_PW=@@", "env | grep PASS\nVNC_PASSWD=@@\n", "fly secrets set ADMIN_PASS=@@",
	}},
	{"SQL", (*generator).human, []string{
		"CREATE USER app IDENTIFIED BY '@@';", "ALTER USER postgres WITH PASSWORD '@@';", "ALTER ROLE app WITH ENCRYPTED PASSWORD '@@'", "SET PASSWORD FOR 'bob'@'%' = PASSWORD('@@');",
		"GRANT ALL ON app.* TO 'app'@'localhost' IDENTIFIED BY '@@'", "CREATE LOGIN bob WITH PASSWORD = '@@'",
	}},
	{"netrc", (*generator).strong, []string{
		"machine api.example.com login bob password @@", "machine git.example.com\n  login bob\n  password @@\n", "default login anonymous password @@",
	}},
	{"pgpass", (*generator).strong, []string{
		"db.internal:5432:app:app_user:@@", "$ cat ~/.pgpass\n*:*:*:postgres:@@\n", "localhost:5432:*:bob:@@\n",
	}},
	{"URL", (*generator).strong, []string{
		"postgresql://app:@@@db:5432/app?sslmode=require", "amqp://bob:@@@mq:5672/%2f", "https://bob:@@@git.example.com/o/r.git", "ftp://bob:@@@files.example.com/x",
		"jdbc:postgresql://db/app?user=app&password=@@", "jdbc:sqlserver://db;user=sa;password=@@;encrypt=true", "mysql+pymysql://root:@@@127.0.0.1/app",
		"Server=db;Database=app;User Id=sa;Password=@@;", "host=db user=app password=@@ dbname=app", "Data Source=db;UID=sa;PWD=@@;Initial Catalog=app", "smtp://mailer:@@@smtp.example.com:587",
		"ldap://cn=admin:@@@ldap.example.com", "jdbc:oracle:thin:scott/@@@db:1521:xe",
	}},
}
