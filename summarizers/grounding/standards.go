package grounding

import (
	"regexp"
	"strings"
	"sync"
)

// standards are what numbers of standards, algorithms and encodings begin with.
var standards = wordsOf(`AES ANSI ARIA CP CRC DES ECMA ED EN ES FIPS GB GPT HMAC HS HTTP IEC IEEE ISO ITU JSR KOI LATIN MD NIST
	PBKDF PEP PKCS PS RFC RS RSA SHA UTC UTF UTS X`)

// productEndings are the second words of products' names that types in code have seldom.
var productEndings = wordsOf("API DB GL JS ML MQ OS QL SQL")

// standardNames are names that have the form of an identifier or a code, in small letters or as they are written.
var standardNames = wordsOf(`P256 P384 P521 H264 H265 E164
	bigquery bitbucket chatgpt circleci clickhouse cloudflare cloudformation cloudfront cloudwatch coffeescript devtools
	digitalocean dropbox elasticsearch googleapis hubspot huggingface intellij javascript jetbrains kubernetes langchain
	linkedin llamaindex mathjax newrelic openai openssh openssl opensearch opensuse openstack openstreetmap opentelemetry
	pagerduty paypal pgadmin pgbouncer phpmyadmin phpstorm powerpoint powershell prismjs pycharm pytorch rubymine sagemaker
	sendgrid sharepoint sonarqube sourceforge stackoverflow teamcity tensorflow typescript webassembly websocket websockets
	webstorm whatsapp wordpress youtube
	camelcase kebab_case lowercamelcase pascalcase snake_case uppercamelcase
	__init__ __main__ __name__ node_modules site_packages utf8mb4 x86_64`)

// standardStems are what files are called that many projects have, whatever their extension.
var standardStems = wordsOf(`app changelog compose config conftest docker-compose dockerfile index init lib license main makefile
	manifest mod package package-lock pnpm-lock poetry pom pre-commit-config pyproject readme requirements schema settings
	setup styles tsconfig utils yarn`)

// standardFiles are those whose stem alone says too little.
var standardFiles = wordsOf(`build.gradle build.gradle.kts cargo.lock cargo.toml composer.json deno.json go.mod go.sum gradle.properties
	hosts.txt nginx.conf robots.txt settings.gradle.kts sitemap.xml tox.ini uv.lock`)

// standardFolders have the programs and devices of all systems, and settings directly in /etc.
var standardFolders = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/(?:usr(?:/local)?/s?bin|s?bin|dev|proc|sys|etc)/[a-z0-9.+-]+$`)
})

func wordsOf(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}
