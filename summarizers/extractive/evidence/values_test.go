package evidence_test

import "testing"

func TestAmounts(t *testing.T) {
	t.Parallel()
	requireNames(t, []namesCase{
		{"978.30 EUR for two, or EUR 1,842.60", []string{"978.30 EUR", "EUR 1,842.60"}},
		{"349,00 €, 1.798,20€ and €437.90.", []string{"349,00 €", "1.798,20€", "€437.90"}},
		{"JPY 98,500, $349 and 250 EUR", []string{"JPY 98,500", "$349", "250 EUR"}},
		{"5 €, $1, EUR 20", nil},
		{"349 EURO, 349 EURs, MYEUR 349 and 349 km", nil},
		{"EUR 349x", nil},
	})
}

func TestPhones(t *testing.T) {
	t.Parallel()
	requireNames(t, []namesCase{
		{"call +45 5550 3317, or +49 (431) 5550-208.", []string{"+45 5550 3317", "+49 (431) 5550-208"}},
		{"+4543331750", []string{"+4543331750"}},
		{"+45 5550", []string{"5550"}},
		{"+1234 5678 9012", []string{"1234", "5678", "9012"}},
		{"x+45 5550 3317", []string{"5550", "3317"}},
	})
}

func TestMail(t *testing.T) {
	t.Parallel()
	requireNames(t, []namesCase{
		{"Write to jan.vogt@post-box.example, or <m@ab.cd>.", []string{"jan.vogt@post-box.example", "m@ab.cd"}},
		{"git@github.com:a, noreply@mail.example, @types, a@b, a@1.22, a@b.c, a@b@cd.ef", nil},
		{"src/a@b.ts", []string{"src/a@b.ts"}},
	})
}

func TestCodesOfOrders(t *testing.T) {
	t.Parallel()
	requireNames(t, []namesCase{
		{"AUR5-00917, OF-TK-90311, FJ-7KQ2-50/CVE-2024-12345.", []string{"AUR5-00917", "OF-TK-90311", "FJ-7KQ2-50", "CVE-2024-12345"}},
		{"draft d-5501, refund rf-2207.", []string{"d-5501", "rf-2207"}},
		{"8KLP2R or 7QWX4M", []string{"8KLP2R", "7QWX4M"}},
		{"text-gray-9000, grays-9000", []string{"9000", "9000"}},
		{"gray-900, H-1, RE--20, A-B-C, us-east-1, README-12ab, 12-34-56, grays-9", nil},
		{"8K2222, 8KLPXR, 8klP2R", nil},
	})
}
