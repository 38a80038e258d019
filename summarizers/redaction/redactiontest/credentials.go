// Package redactiontest generates credentials for tests. They have the form of real ones, but none was ever issued.
package redactiontest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Credential is a secret in a text.
type Credential struct {
	// Kind says what the credential is for.
	Kind string
	// Secret is the part that must be redacted, and Text a text that contains it.
	Secret, Text string
}

// Credentials returns n credentials, with all kinds in turn. The same seed gives the same credentials.
func Credentials(seed uint64, n int) []Credential {
	g := &generator{rand.New(rand.NewPCG(seed, 7))}
	made := make([]Credential, 0, n)
	for i := range n {
		k := kinds[i%len(kinds)]
		secret := k.secret(g)
		made = append(made, Credential{Kind: k.name, Secret: secret, Text: fmt.Sprintf(k.text[i/len(kinds)%len(k.text)], secret)})
	}
	return made
}

// Kinds returns the names of the kinds.
func Kinds() []string {
	names := make([]string, 0, len(kinds))
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

type kind struct {
	name   string
	secret func(g *generator) string
	// text holds templates for texts that contain it.
	text []string
}

// generator draws random characters.
type generator struct{ *rand.Rand }

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	letter = lower + upper
	alnum  = letter + digits
	hex    = digits + "abcdef"
	url64  = alnum + "_-"
	b64    = alnum + "+/"
	base32 = upper + "234567"
)

func (g *generator) of(alphabet string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(alphabet[g.IntN(len(alphabet))])
	}
	return b.String()
}

// mixed returns a text with a digit and letters of both cases, as password generators make them.
func (g *generator) mixed(alphabet string, n int) string {
	return g.of(upper, 1) + g.of(digits, 1) + g.of(lower, 1) + g.of(alphabet, n-5) + g.of(digits, 1) + g.of(lower, 1)
}

func (g *generator) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.Uint32())
	}
	return b
}

// prefixed returns a generator of tokens with a prefix, which is the form of most tokens.
func prefixed(prefix, alphabet string, n int) func(*generator) string {
	return func(g *generator) string { return prefix + g.of(alphabet, n) }
}

func (g *generator) jwt() string {
	part := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return base64.RawURLEncoding.EncodeToString(b)
	}
	return part(map[string]string{"alg": "HS256", "typ": "JWT"}) + "." +
		part(map[string]any{"sub": g.of(digits, 10), "name": g.of(lower, 8), "iat": 1700000000}) + "." +
		base64.RawURLEncoding.EncodeToString(g.bytes(32))
}

// pem returns a key in PEM format, whose body is the secret.
func (g *generator) pem(name string, bytes int) string {
	body := base64.StdEncoding.EncodeToString(g.bytes(bytes))
	var b strings.Builder
	b.WriteString("-----BEGIN " + name + "-----\n")
	for len(body) > 0 {
		n := min(64, len(body))
		b.WriteString(body[:n] + "\n")
		body = body[n:]
	}
	b.WriteString("-----END " + name + "-----")
	return b.String()
}

func inJSON(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b[1 : len(b)-1])
}

var kinds = []kind{
	{
		"AWS access key", func(g *generator) string { return "AKIA" + g.of(base32, 16) },
		[]string{"aws configure set aws_access_key_id %s", "AWS_ACCESS_KEY_ID=%s\n", `{"AccessKeyId": "%s"}`},
	},
	{
		"AWS secret key", func(g *generator) string { return g.mixed(b64, 40) },
		[]string{"aws_secret_access_key = %s\n", "export AWS_SECRET_ACCESS_KEY=%s", `{"SecretAccessKey": "%s"}`},
	},
	{
		"Google API key", prefixed("AIza", url64, 35),
		[]string{"https://maps.example.com/api/js?key=%s&v=3", "the key is %s .", `apiKey: "%s",`},
	},
	{
		"Google service account", func(g *generator) string { return inJSON(g.pem("PRIVATE KEY", 600) + "\n") },
		[]string{`{"type": "service_account", "private_key": "%s", "client_email": "a@b.example"}`},
	},
	{
		"Azure storage key", func(g *generator) string { return base64.StdEncoding.EncodeToString(g.bytes(64)) },
		[]string{"DefaultEndpointsProtocol=https;AccountName=store;AccountKey=%s;EndpointSuffix=core.windows.net"},
	},
	{
		"Azure client secret", func(g *generator) string { return g.mixed(alnum, 5)[:3] + "8Q~" + g.mixed(url64, 34) },
		[]string{"client_secret: %s\n", "AZURE_CLIENT_SECRET=%s\n"},
	},
	{"GitHub classic", prefixed("ghp_", alnum, 36), []string{"git clone https://x:%s@github.com/o/r", "GH_TOKEN=%s gh pr list", "令牌是%s。"}},
	{"GitHub fine-grained", prefixed("github_pat_", alnum+"_", 82), []string{"export GITHUB_TOKEN=%s\n", "token: %s"}},
	{"GitHub app", prefixed("ghs_", alnum, 36), []string{"::add-mask::%s", "Authorization: token %s"}},
	{"GitLab", prefixed("glpat-", url64, 20), []string{"curl --header 'PRIVATE-TOKEN: %s' https://gitlab.example.com", "glab auth login -t %s"}},
	{
		"Slack bot", func(g *generator) string {
			return "xoxb-" + g.of(digits, 12) + "-" + g.of(digits, 12) + "-" + g.of(alnum, 24)
		},
		[]string{"SLACK_BOT_TOKEN=%s", `slack.New("%s")`},
	},
	{"Slack webhook", func(g *generator) string {
		return "https://hooks.slack.com/services/T" + g.of(upper+digits, 8) + "/B" + g.of(upper+digits, 10) + "/" + g.of(alnum, 24)
	}, []string{"curl -X POST %s", "webhook: %s\n"}},
	{"Stripe", prefixed("sk_live_", alnum, 24), []string{"stripe.api_key = '%s'", "STRIPE_KEY=%s\n"}},
	{"Twilio", prefixed("SK", hex, 32), []string{"twilio_sid=%s", "client = Client('%s')"}},
	{
		"SendGrid", func(g *generator) string { return "SG." + g.of(url64, 22) + "." + g.of(url64, 43) },
		[]string{"SENDGRID_API_KEY=%s", "sendgrid.NewSendClient(\"%s\")"},
	},
	{
		"OpenAI", func(g *generator) string { return "sk-proj-" + g.of(url64, 74) + "T3Blb" + "kFJ" + g.of(url64, 74) },
		[]string{"OPENAI_API_KEY=%s\n", "client = OpenAI(api_key=\"%s\")", "我的密钥:%s"},
	},
	{
		"Anthropic", func(g *generator) string { return "sk-ant-api03-" + g.of(url64, 93) + "AA" },
		[]string{"export ANTHROPIC_API_KEY=%s", "x-api-key: %s\n"},
	},
	{"Hugging Face", prefixed("hf_", letter, 34), []string{"huggingface-cli login --token %s", "HF_TOKEN=%s"}},
	{"npm", prefixed("npm_", lower+digits, 36), []string{"//registry.npmjs.org/:_authToken=%s\n", "NPM_TOKEN=%s npm publish"}},
	{
		"PyPI", func(g *generator) string { return "pypi-AgEIcHlwaS5vcmc" + g.of(url64, 90) },
		[]string{"password = %s\n", "TWINE_PASSWORD=%s twine upload"},
	},
	{"JWT", (*generator).jwt, []string{"cookie: session=%s; path=/", `{"id_token":"%s"}`, "Authorization: Bearer %s"}},
	{"RSA key", func(g *generator) string { return g.pem("RSA PRIVATE KEY", 1190) }, []string{"$ cat id_rsa\n%s\n$ ", "%s"}},
	{"SSH key", func(g *generator) string { return g.pem("OPENSSH PRIVATE KEY", 400) }, []string{"cat > key <<EOF\n%s\nEOF"}},
	{"EC key in JSON", func(g *generator) string { return inJSON(g.pem("EC PRIVATE KEY", 121)) }, []string{`{"content": "%s\n"}`}},
	{
		"database URL", func(g *generator) string { return g.mixed(alnum, 14) },
		[]string{"DATABASE_URL=postgres://app:%s@db.internal:5432/app", "mongodb+srv://root:%s@cluster0.example.net/?retryWrites=true", "redis://:%s@cache:6379/0"},
	},
	{
		"bearer header", func(g *generator) string { return g.mixed(url64, 40) },
		[]string{`curl -H "Authorization: Bearer %s" https://api.example.com`, `headers={"Authorization": "Bearer %s"}`, "< authorization: Bearer %s\r\n"},
	},
	{"basic auth", func(g *generator) string {
		return base64.StdEncoding.EncodeToString([]byte("deploy:" + g.mixed(alnum, 12)))
	}, []string{"Authorization: Basic %s", `"authorization":"Basic %s"`}},
	{
		"password in quotes", func(g *generator) string { return g.mixed(alnum+"!#%+-", 14) },
		[]string{`password: "%s"`, `DB_PASSWORD='%s'`, `{"user":"app","password":"%s"}`},
	},
	{
		"password variable", func(g *generator) string { return g.mixed(alnum, 13) },
		[]string{"PGPASSWORD=%s psql -h db", "MYSQL_PWD=%s mysqldump app", "docker login --password=%s registry.example.com", "password=%s\n"},
	},
	{
		"generic key", func(g *generator) string { return g.mixed(alnum, 32) },
		[]string{`api_key="%s"`, "API_KEY=%s\n", `{"apiKey": "%s"}`, "X-Api-Key: %s\n"},
	},
	{
		"told password", func(g *generator) string { return g.mixed(alnum+"!#%", 13) },
		[]string{"the password is %s and the user is admin", "密码是%s 请登录"},
	},
}
