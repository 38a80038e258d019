package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// linesOf are what a user and an agent write in a language: three constraints of the user, and what the agent decided,
// will do, has done, waits for and found.
type linesOf struct {
	request                                string
	constraints                            [3]string
	decision, next, done, blocked, finding string
}

var inLanguages = map[string]linesOf{
	"English": {
		request:     "The export of the shop is slow. Please find out why and speed it up.",
		constraints: [3]string{"Please leave the invoices table alone.", "Never push straight to main.", "The exporter has to run on Windows as well."},
		decision:    "We settled on cursor paging because the offsets get slow on page 400.",
		next:        "What's left is the migration of the old cursors in `export/cursor.go`.",
		done:        "I moved the query into `export/store.go` and the suite is green.",
		blocked:     "I'm waiting for access to the staging database `shop_stage`.",
		finding:     "The timeout comes from `gateway.yaml`, which cuts every request at 30 seconds.",
	},
	"Chinese": {
		request:     "商店的导出很慢，请找出原因并优化。",
		constraints: [3]string{"千万别动 invoices 这张表。", "提交之前一定要先跑一遍单元测试。", "导出模块只能用标准库。"},
		decision:    "我们最后决定用游标分页，因为偏移量到了第 400 页就很慢。",
		next:        "接下来还要把 `export/cursor.go` 里的旧游标迁移过去。",
		done:        "查询已经挪到 `export/store.go`，测试全部通过了。",
		blocked:     "现在卡在 `shop_stage` 数据库的权限上，得等运维开通。",
		finding:     "超时的根源在 `gateway.yaml`，网关每 30 秒就会断开请求，原因就在这里。",
	},
	"Spanish": {
		request:     "La exportación de la tienda va lenta. Averigua por qué y acelérala.",
		constraints: [3]string{"No toques la tabla invoices, por favor.", "Nunca hagas push directamente a main.", "El exportador tiene que funcionar también en Windows."},
		decision:    "Al final hemos decidido paginar con cursores porque los offsets van muy lentos a partir de la página 400.",
		next:        "Todavía falta migrar los cursores antiguos de `export/cursor.go`.",
		done:        "He movido la consulta a `export/store.go` y todas las pruebas pasan.",
		blocked:     "Estoy a la espera de que nos den acceso a la base de datos `shop_stage`.",
		finding:     "El timeout viene de `gateway.yaml`, que corta las peticiones a los 30 segundos.",
	},
	"Portuguese": {
		request:     "A exportação da loja está lenta. Descubra o motivo e deixe mais rápida.",
		constraints: [3]string{"Por favor, não mexa na tabela invoices.", "Nunca faça push direto na main.", "O exportador tem que rodar no Windows também."},
		decision:    "Decidimos paginar com cursores porque os offsets ficam lentos depois da página 400.",
		next:        "Ainda falta migrar os cursores antigos em `export/cursor.go`.",
		done:        "Movi a consulta para `export/store.go` e todos os testes passaram.",
		blocked:     "Estou aguardando liberarem o acesso ao banco `shop_stage`.",
		finding:     "O timeout vem do `gateway.yaml`, que derruba as requisições depois de 30 segundos.",
	},
	"French": {
		request:     "L'export de la boutique est lent. Trouve pourquoi et accélère-le.",
		constraints: [3]string{"Ne touche surtout pas à la table invoices.", "On ne pousse jamais directement sur main.", "L'exporteur doit aussi tourner sous Windows."},
		decision:    "Finalement, nous avons choisi la pagination par curseur, car les offsets deviennent lents à la page 400.",
		next:        "Il reste à migrer les anciens curseurs dans `export/cursor.go`.",
		done:        "J'ai déplacé la requête dans `export/store.go` et tous les tests passent.",
		blocked:     "Je suis bloqué tant que je n'ai pas accès à la base `shop_stage`.",
		finding:     "Le délai vient de `gateway.yaml`, qui coupe chaque requête au bout de 30 secondes.",
	},
	"German": {
		request:     "Der Export im Shop ist langsam. Finde heraus, woran es liegt, und mach ihn schneller.",
		constraints: [3]string{"Bitte lass die Finger von der Tabelle invoices.", "Niemals direkt auf main pushen!", "Der Exporter muss auch unter Windows laufen."},
		decision:    "Wir haben uns für Paging mit Cursorn entschieden, weil die Offsets ab Seite 400 langsam werden.",
		next:        "Als Nächstes müssen noch die alten Cursor in `export/cursor.go` umgezogen werden.",
		done:        "Die Abfrage liegt jetzt in `export/store.go`, und alle Tests sind grün.",
		blocked:     "Ich warte noch auf den Zugang zur Datenbank `shop_stage`.",
		finding:     "Das Timeout kommt aus `gateway.yaml`, dort wird jede Anfrage nach 30 Sekunden abgebrochen.",
	},
	"Japanese": {
		request:     "ショップのエクスポートが遅いです。原因を調べて速くしてください。",
		constraints: [3]string{"invoices テーブルには絶対に触らないでください。", "main に直接プッシュしてはいけません。", "エクスポーターは標準ライブラリだけで書いてください。"},
		decision:    "オフセットは 400 ページ目から遅くなるので、カーソル方式を採用することにしました。",
		next:        "あとは `export/cursor.go` の古いカーソルの移行が残っています。",
		done:        "クエリを `export/store.go` に移し、テストもすべて通りました。",
		blocked:     "`shop_stage` データベースの権限が下りるのを待っている状態です。",
		finding:     "タイムアウトの原因は `gateway.yaml` の 30 秒の制限でした。",
	},
	"Korean": {
		request:     "상점 내보내기가 느립니다. 이유를 찾아서 빠르게 만들어 주세요.",
		constraints: [3]string{"invoices 테이블은 절대 건드리지 마세요.", "main 브랜치에 바로 푸시하면 안 됩니다.", "내보내기 모듈은 표준 라이브러리만 써야 합니다."},
		decision:    "400페이지부터 오프셋이 느려져서 커서 방식으로 가기로 했습니다.",
		next:        "이제 `export/cursor.go`의 옛 커서를 옮기는 일이 남았습니다.",
		done:        "쿼리를 `export/store.go`로 옮겼고 테스트가 모두 통과했습니다.",
		blocked:     "`shop_stage` 데이터베이스 권한이 나올 때까지 기다리는 중입니다.",
		finding:     "타임아웃의 원인은 30초마다 요청을 끊는 `gateway.yaml`입니다.",
	},
	"Russian": {
		request:     "Экспорт в магазине тормозит. Разберись, почему, и ускорь его.",
		constraints: [3]string{"Таблицу invoices, пожалуйста, не трогай.", "В main напрямую пушить нельзя.", "Экспортер должен работать и под Windows."},
		decision:    "В итоге решили сделать пагинацию курсорами, потому что с offset всё тормозит после 400-й страницы.",
		next:        "Осталось перенести старые курсоры в `export/cursor.go`.",
		done:        "Запрос перенёс в `export/store.go`, все тесты проходят.",
		blocked:     "Жду, пока дадут доступ к базе `shop_stage`.",
		finding:     "Таймаут приходит из `gateway.yaml`: он обрывает запрос через 30 секунд, причина в этом лимите.",
	},
}

// Of eight lines in each language, at least seven stand in the right section.
func TestLinesInNineLanguagesAreSorted(t *testing.T) {
	t.Parallel()
	for name, lines := range inLanguages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c conversation
			c.user(lines.request)
			c.says(lines.finding)
			for _, rule := range lines.constraints {
				c.user(rule)
				c.runs("ls export", "store.go", false)
			}
			c.says(lines.decision)
			c.runs("go vet ./export", "ok", false)
			c.says(lines.done)
			c.runs("go build ./export", "ok", false)
			c.says(lines.blocked)
			c.says(lines.next)
			text := c.summary(t, "")
			var wrong []string
			expect := func(heading, line string) {
				if !strings.Contains(below(text, heading), line) {
					wrong = append(wrong, heading+": "+line)
				}
			}
			for _, rule := range lines.constraints {
				expect("## Constraints & Preferences", rule)
			}
			expect("## Key Decisions", lines.decision)
			expect("## Next Steps", lines.next)
			expect("### Done", lines.done)
			expect("### Blocked", lines.blocked)
			expect("## Critical Context", lines.finding)
			require.LessOrEqual(t, len(wrong), 1, "%v\n%s", wrong, text)
		})
	}
}

// A word that is a cue in one language is none in another, and cues are found in capitals, with accents and after elided
// words.
func TestCuesKeepToTheirLanguage(t *testing.T) {
	t.Parallel()
	for text, rule := range map[string]bool{
		"The reducers of the shop are built on immer, and the tests are as well.":      false,
		"The name of the second list is Jamais Vu, and it is the one of the pages.":    false,
		"The solo mode of the player is in the menu of the second page.":               false,
		"The nur table is a list of the lights of the house.":                          false,
		"No sé por qué se borra la lista de los pedidos en la segunda página.":         false,
		"Die Liste der Bestellungen ist auf der zweiten Seite leer.":                   false,
		"ÉVITE les mocks dans les tests de la page.":                                   true,
		"N'utilise pas de variable globale dans les tests de la page.":                 true,
		"НИКОГДА не меняй таблицу заказов без меня.":                                   true,
		"Auf der zweiten Seite darf die Reihenfolge der Bestellungen nicht leer sein.": true,
		"Übersetze die Namen der Bestellungen nicht.":                                  true,
	} {
		var c conversation
		c.user("Have a look at the list.\n\n" + strings.Repeat("The list is on the second page, and the mailer has it as well. ", 5) + "\n\n" + text)
		require.Equal(t, rule, contains(below(c.summary(t, ""), rulesHeading), text), text)
	}
}
