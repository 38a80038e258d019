package extractive

// otherRules are words of rules in languages of which nothing else is known. They hardly mean anything else in others.
var otherRules = []group{
	// Dutch.
	{cueMust, false, nil, []string{
		"nooit", "altijd", "mag niet", "mogen niet", "mag geen", "mag … niet", "raak … niet", "wijzig … niet", "verander … niet", "verwijder … niet", "gebruik geen", "niet aanraken",
		"niet wijzigen", "niet veranderen", "niet aanpassen", "niet verwijderen", "niet gebruiken", "verboden", "vanaf nu", "blijf van",
	}},
	// Italian.
	{cueMust, false, nil, []string{
		"non toccare", "non toccate", "non modificare", "non cambiare", "non usare", "non cancellare", "non eliminare", "non scrivere", "non aggiungere", "non rimuovere",
		"non deve", "non devono", "non devi", "vietato", "vietata", "d'ora in poi", "chiedimi", "assicurati",
	}},
	// Polish, Czech and Ukrainian.
	{cueMust, false, nil, []string{
		"nigdy", "zawsze", "nie wolno", "nie ruszaj", "nie zmieniaj", "nie usuwaj", "nie używaj", "nie dotykaj", "zabronione", "nikdy", "vždy", "nesmí", "nesahej", "neměň", "nemaž",
		"nepoužívej", "zakázáno", "ніколи", "завжди", "не можна", "заборонено", "не чіпай", "не змінюй", "не видаляй",
	}},
	// Swedish, Danish and Norwegian.
	{cueMust, false, nil, []string{
		"aldrig", "aldri", "alltid", "altid", "rör inte", "ändra inte", "ta inte bort", "använd inte", "får inte", "får … inte", "rør ikke", "ikke rør", "endre ikke", "ikke endre", "må ikke",
		"må … ikke", "brug ikke", "bruk ikke", "förbjudet", "forbudt",
	}},
	// Turkish.
	{cueMust, false, nil, []string{"asla", "dokunma", "dokunmayın", "değiştirmeyin", "silmeyin", "kullanmayın", "yasak", "her zaman", "bundan sonra", "zorunlu"}},
	// Indonesian.
	{cueMust, false, nil, []string{
		"jangan", "tidak boleh", "dilarang", "selalu", "wajib",
	}},
	{cueLasts, false, nil, []string{
		"nooit", "altijd", "vanaf nu", "d'ora in poi", "nigdy", "zawsze", "nikdy", "vždy", "ніколи", "завжди", "aldrig", "aldri", "alltid", "altid", "asla", "her zaman", "bundan sonra", "selalu",
	}},
}
