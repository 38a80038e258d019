package extractive

import "slices"

// each puts a word before each of the others.
func each(before string, others ...string) []string {
	all := make([]string, 0, len(others))
	for _, other := range others {
		all = append(all, before+" "+other)
	}
	return all
}

var spanish = []group{
	{cueMust, false, nil, slices.Concat([]string{
		"nunca", "jamás", "siempre", "debe", "deben", "debes", "debemos", "hay que", "tiene que", "tienen que", "tienes que", "prohibido", "prohibida", "prohibidos",
		"obligatorio", "obligatoria", "por favor no", "en ningún caso", "bajo ninguna circunstancia", "bajo ningún concepto", "a partir de ahora", "de ahora en adelante",
		"sin excepción", "sin excepciones", "asegúrate de", "asegúrese de", "ni se te ocurra", "no se debe", "no se deben", "no se permite", "no se permiten", "no está permitido",
		"no quiero", "no queremos", "no puedes", "no se toca", "no se tocan", "no hay que", "es imprescindible", "ten cuidado", "nadie",
	}, each("no", "toques", "toquen", "toque", "modifiques", "modifique", "modifiquen", "cambies", "cambie", "cambien", "uses", "use", "usen", "utilices", "utilice", "borres", "borre",
		"elimines", "elimine", "añadas", "añada", "agregues", "agregue", "escribas", "escriba", "hagas", "haga", "hagan", "subas", "suba", "crees", "edites", "edite", "instales",
		"instale", "rompas", "rompa", "renombres", "muevas", "mueva", "ejecutes", "ejecute", "pongas", "ponga", "dejes", "deje", "olvides", "olvide", "publiques", "publique",
		"envíes", "envíe", "despliegues", "despliegue", "commitees", "commitees", "quites", "quite", "incluyas", "incluya", "introduzcas", "metas", "guardes", "guarde", "abras",
		"lances", "traduzcas", "reescribas", "refactorices", "actualices", "actualice", "dependas", "registres", "des", "vuelvas", "expongas"))},
	{cueMust, true, nil, []string{"prohibido", "evita", "evite", "eviten", "evitar", "nada de *", "recuerda", "ojo"}},
	{cueLasts, false, nil, []string{"nunca", "jamás", "siempre", "a partir de ahora", "de ahora en adelante", "en ningún caso", "cada"}},
	{cuePrefer, false, nil, []string{
		"solo", "sólo", "solamente", "únicamente", "prefiero", "preferimos", "preferiblemente", "al menos", "como mínimo", "como máximo", "como mucho", "más de",
		"salvo que", "a menos que", "en lugar de", "en vez de", "me gusta", "siempre que sea posible",
	}},
	{cuePrefer, true, nil, []string{"usa", "use", "usen", "utiliza", "utilice", "utilicen", "mantén", "mantenga", "deja", "deje", "respeta", "respete", "sigue", "responde", "escribe", "sin"}},
	{cueDecided, false, nil, []string{
		"decidí", "decidimos", "hemos decidido", "he decidido", "se decidió", "se ha decidido", "optamos por", "opté por", "hemos optado", "he optado", "nos quedamos con",
		"me quedo con", "nos decantamos por", "elegimos", "elegí", "hemos elegido", "he elegido", "vamos con", "acordamos", "hemos acordado", "queda decidido", "descartamos",
		"hemos descartado", "decisión",
	}},
	{cueStays, false, nil, []string{"usaremos", "vamos a usar", "usamos", "utilizaremos", "utilizamos", "mantenemos", "mantendremos", "cambiamos a", "pasamos a", "tomamos"}},
	{cueCompares, false, nil, []string{"en lugar de", "en vez de"}},
	{cueHedges, false, nil, []string{"quizá", "quizás", "tal vez", "podríamos", "podría", "podemos", "sería", "sugiero", "recomiendo", "propongo", "otra opción", "alternativa", "si", "debería", "creo", "parece"}},
	{cueProposes, false, nil, []string{"sugiero", "recomiendo", "propongo"}},
	{cueWhy, false, nil, []string{"porque", "ya que", "debido a", "así", "para que", "puesto que"}},
	{cueDone, false, nil, []string{
		"he ~ado", "he ~ido", "he hecho", "he escrito", "he puesto", "hemos ~ado", "hemos ~ido", "se ha ~ado", "se han ~ado", "ha sido ~ado", "ha quedado", "han quedado", "añadí", "agregué",
		"corregí", "implementé", "creé", "actualicé", "eliminé", "moví", "escribí", "cambié", "terminé", "arreglé", "subí", "migré", "desplegué", "refactoricé", "ya funciona",
		"ya está", "ya están", "pasan todas", "pasan todos", "tests pasan", "pruebas pasan", "quedó", "quedaron",
	}},
	{cueDone, true, nil, []string{"hecho", "listo", "lista", "terminado", "terminada", "corregido", "añadido", "implementado", "completado", "migrado", "arreglado"}},
	{cueFixed, false, nil, []string{"corregido", "arreglado", "resuelto", "solucionado", "ya no falla"}},
	{cueNot, false, nil, []string{"aún", "todavía", "no está", "no se", "no queda"}},
	{cueNext, false, nil, []string{
		"siguiente paso", "próximo paso", "próximos pasos", "siguientes pasos", "falta", "faltan", "faltaría", "queda por", "quedan por", "queda pendiente", "quedan pendientes", "pendiente",
		"pendientes", "por hacer", "todavía hay que", "aún hay que", "nos queda", "me queda", "todavía tengo que", "aún tengo que", "queda ~ar",
	}},
	{cueUpcoming, false, nil, []string{"a continuación", "luego voy a", "después voy a", "ahora voy a", "lo siguiente es", "lo próximo es", "seguiré con", "continúo con", "después"}},
	{cueBlocked, false, nil, []string{
		"bloqueado", "bloqueada", "bloqueados", "no puedo continuar", "no podemos continuar", "no puedo seguir", "no podemos seguir", "no puedo avanzar", "no podemos avanzar", "a la espera",
		"esperando", "no tengo acceso", "no tenemos acceso", "sin acceso", "sigue fallando", "siguen fallando", "atascado", "atascada", "falta acceso", "hasta que nos", "hasta que me", "no tengo permisos",
		"no tenemos permisos",
	}},
	{cueFinding, false, nil, []string{
		"la causa", "causado por", "el problema", "resulta que", "se debe a", "el error", "el fallo", "encontré", "descubrí", "porque", "escucha en", "está en", "se encuentra", "devuelve",
		"puerto", "límite", "he encontrado", "viene de", "se guarda en", "versión",
	}},
	{cueNarrates, true, nil, []string{"voy a", "ahora voy", "vamos a ver", "déjame", "perfecto", "primero voy", "veamos"}},
}

var portuguese = []group{
	{cueMust, false, nil, slices.Concat([]string{
		"nunca", "jamais", "sempre", "deve", "devem", "deverá", "tem que", "têm que", "tem de", "precisa ser", "precisam ser", "proibido", "proibida", "proibidos", "obrigatório",
		"obrigatória", "por favor não", "de jeito nenhum", "em hipótese alguma", "em hipótese nenhuma", "em nenhuma circunstância", "a partir de agora", "daqui para frente", "sem exceção",
		"certifique-se", "garanta que", "não é permitido", "não são permitidos", "não quero", "não queremos", "não pode", "não podem", "não se deve", "é imprescindível", "cuidado", "ninguém",
	}, each("não", "mexa", "mexam", "toque", "altere", "alterem", "modifique", "mude", "use", "usem", "utilize", "apague", "remova", "delete", "exclua", "adicione", "acrescente", "escreva",
		"faça", "façam", "commite", "comite", "suba", "crie", "edite", "instale", "quebre", "renomeie", "mova", "rode", "execute", "coloque", "ponha", "deixe", "esqueça", "publique", "envie",
		"inclua", "grave", "abra", "traduza", "reescreva", "refatore", "atualize", "dependa", "registre", "volte", "exponha", "dê", "introduza", "faz", "mexe", "usa"))},
	{cueMust, true, nil, []string{"proibido", "evite", "evitem", "evitar", "nada de *", "lembre-se", "atenção"}},
	{cueLasts, false, nil, []string{"nunca", "jamais", "sempre", "a partir de agora", "daqui para frente", "cada"}},
	{cuePrefer, false, nil, []string{
		"apenas", "somente", "só", "prefiro", "preferimos", "de preferência", "pelo menos", "no mínimo", "no máximo", "a menos que", "em vez de", "ao invés de", "gosto de",
		"sempre que possível",
	}},
	{cuePrefer, true, nil, []string{"use", "usem", "utilize", "mantenha", "deixe", "respeite", "siga", "responda", "escreva", "sem"}},
	{cueDecided, false, nil, []string{
		"decidi", "decidimos", "foi decidido", "ficou decidido", "optamos por", "optei por", "optamos pelo", "optamos pela", "optei pelo", "optei pela", "escolhemos", "escolhi", "ficamos com",
		"fico com", "vamos com", "vamos de", "combinamos", "acordamos", "fechamos com", "descartamos", "decisão",
	}},
	{cueStays, false, nil, []string{"usaremos", "vamos usar", "usamos", "vamos manter", "mantivemos", "manteremos", "mudamos para", "passamos a", "trocamos"}},
	{cueCompares, false, nil, []string{"em vez de", "em vez do", "em vez da", "ao invés de", "ao invés do", "ao invés da", "no lugar de", "no lugar do"}},
	{cueHedges, false, nil, []string{"talvez", "poderíamos", "poderia", "podemos", "seria", "sugiro", "recomendo", "proponho", "outra opção", "alternativa", "se", "deveria", "acho", "parece"}},
	{cueProposes, false, nil, []string{"sugiro", "recomendo", "proponho"}},
	{cueWhy, false, nil, []string{"porque", "já que", "pois", "devido", "assim", "para que"}},
	{cueDone, false, nil, []string{
		"adicionei", "corrigi", "implementei", "criei", "atualizei", "removi", "movi", "escrevi", "alterei", "mudei", "terminei", "concluí", "finalizei", "refatorei", "fiz", "subi", "migrei",
		"publiquei", "ajustei", "troquei", "foi ~ado", "foi ~ada", "foi ~ido", "foi ~ída", "foi ~ída", "foram ~ados", "foram ~adas", "foram ~ídos", "já está", "já estão", "já funciona", "testes passam", "testes passaram",
		"testes passando", "todos passam", "está pronto", "está pronta", "conseguimos", "está concluída", "está concluído",
	}},
	{cueDone, true, nil, []string{"feito", "pronto", "concluído", "concluída", "corrigido", "adicionado", "implementado", "migrado"}},
	{cueFixed, false, nil, []string{"corrigido", "corrigi", "resolvido", "solucionado", "não falha mais"}},
	{cueNot, false, nil, []string{"não", "ainda", "sem"}},
	{cueNext, false, nil, []string{
		"próximo passo", "próximos passos", "falta", "faltam", "resta", "restam", "pendente", "pendentes", "ainda precisa", "ainda precisamos", "ainda preciso", "ainda tenho que", "ainda temos que",
		"a fazer", "por fazer", "ainda é preciso", "fica faltando",
	}},
	{cueUpcoming, false, nil, []string{"em seguida", "a seguir", "depois vou", "agora vou", "continuo com", "vou continuar com", "depois disso"}},
	{cueBlocked, false, nil, []string{
		"bloqueado", "bloqueada", "bloqueados", "não consigo continuar", "não posso continuar", "não conseguimos continuar", "não consigo avançar", "não posso avançar", "não consigo prosseguir",
		"aguardando", "esperando", "sem acesso", "não tenho acesso", "não temos acesso", "continua falhando", "continuam falhando", "ainda falha", "travado", "travada", "parado até", "sem permissão",
		"não tenho permissão",
	}},
	{cueFinding, false, nil, []string{
		"a causa", "causado por", "causada por", "o problema", "acontece que", "se deve", "deve-se", "o erro", "encontrei", "descobri", "porque", "escuta na", "escuta em", "fica em", "está em",
		"retorna", "porta", "limite", "vem de", "vem do", "versão",
	}},
	{cueNarrates, true, nil, []string{"vou", "agora vou", "vamos ver", "deixe-me", "perfeito", "primeiro vou"}},
}

var french = []group{
	{cueMust, false, nil, []string{
		"toujours", "il faut", "faut", "on doit", "tu dois", "vous devez", "doit", "doivent", "devra", "devront", "interdit", "interdite", "interdits", "interdiction", "obligatoire", "obligatoires",
		"veuillez", "merci de", "surtout pas", "en aucun cas", "sans exception", "impérativement", "obligatoirement", "à partir de maintenant", "dorénavant", "désormais", "il ne faut",
		"on ne … pas", "on ne … jamais", "on n … pas", "sous aucun prétexte", "hors de question", "pas question", "assure-toi", "assurez-vous", "je ne veux pas", "est indispensable",
		"personne ne",
	}},
	{cueMust, false, []string{"ai", "as", "a", "avons", "ont", "avait", "est", "sont", "n"}, []string{"jamais"}},
	{cueMust, true, nil, []string{
		"ne … pas", "ne … jamais", "ne … rien", "ne … plus", "n … pas", "n … jamais", "n … rien", "ne … aucun", "ne … aucune", "n … aucun", "n … aucune", "jamais", "pas de *", "pas d *", "évite", "évitez", "éviter", "aucun", "aucune", "interdiction", "attention",
		"n oublie", "n oubliez",
	}},
	{cueLasts, false, nil, []string{"jamais", "toujours", "à partir de maintenant", "dorénavant", "désormais", "en aucun cas", "chaque"}},
	{cuePrefer, false, nil, []string{
		"uniquement", "seulement", "ne … que", "de préférence", "je préfère", "on préfère", "préférer", "au moins", "au maximum", "au plus", "sauf si", "à moins que", "plutôt que", "au lieu de",
		"j aime", "dans la mesure du possible",
	}},
	{cuePrefer, true, nil, []string{"utilise", "utilisez", "utiliser", "garde", "gardez", "laisse", "laissez", "respectez", "suis", "suivez", "réponds", "répondez", "écris", "écrivez", "reste", "sans"}},
	{cueDecided, false, nil, []string{
		"ai décidé", "avons décidé", "a décidé", "a été décidé", "ai choisi", "avons choisi", "a choisi", "part sur", "partons sur", "pars sur", "optons pour", "opté pour", "retenu", "retenue",
		"retenons", "c est décidé", "reste sur", "restons sur", "convenu", "convenus", "décision", "tranché", "écarté", "abandonné", "on prend", "nous prenons",
	}},
	{cueStays, false, nil, []string{"on utilisera", "nous utiliserons", "on utilise", "nous utilisons", "on garde", "nous gardons", "on passe à", "nous passons à", "on va utiliser"}},
	{cueCompares, false, nil, []string{"plutôt que", "plutôt qu", "au lieu de", "au lieu d", "à la place de"}},
	{cueHedges, false, nil, []string{
		"peut-être", "pourrait", "pourrions", "peut", "serait", "suggère", "je ~mmande", "propose", "autre option", "alternative", "si", "devrait", "je pense", "semble",
	}},
	{cueProposes, false, nil, []string{"je suggère", "je ~mmande", "je propose"}},
	{cueWhy, false, nil, []string{"parce que", "parce qu", "car", "puisque", "à cause de", "ainsi", "afin de", "afin que", "pour que"}},
	{cueDone, false, nil, []string{
		"j ai ~é", "j ai ~i", "j ai ~is", "j ai ~it", "j ai ~u", "j ai bien ~é", "nous avons ~é", "on a ~é", "a été ~é", "a été ~ée", "ont été ~és", "ont été ~ées", "c est fait", "mis à jour", "mise à jour",
		"tests passent", "est en place", "est terminé", "est terminée", "fonctionne maintenant", "passent tous", "passent toutes",
	}},
	{cueDone, true, nil, []string{"fait", "terminé", "terminée", "corrigé", "corrigée", "ajouté", "ajoutée", "implémenté", "créé", "migré", "supprimé"}},
	{cueFixed, false, nil, []string{"corrigé", "corrigée", "résolu", "résolue", "réparé", "n échoue plus"}},
	{cueNot, false, nil, []string{"pas", "encore", "toujours", "sans"}},
	{cueNext, false, nil, []string{
		"prochaine étape", "étape suivante", "prochaines étapes", "étapes suivantes", "reste à", "il reste", "restent à", "reste encore", "encore à faire", "reste plus qu", "à faire", "il manque encore", "manque encore",
		"il faut encore", "dois encore", "devons encore",
	}},
	{cueUpcoming, false, nil, []string{"ensuite", "je passe ensuite", "je vais ensuite", "je continue avec", "je passe à", "puis je"}},
	{cueBlocked, false, nil, []string{
		"bloqué", "bloquée", "bloqués", "suis bloqué", "en attente", "j attends", "on attend", "attendons", "pas accès", "échoue toujours", "échouent toujours", "échoue encore", "échouent encore",
		"impossible de continuer", "peux pas continuer", "pouvons pas continuer", "peux pas avancer", "pouvons pas avancer", "peut pas avancer", "coincé", "coincée", "sans accès", "pas les droits", "attente de",
	}},
	{cueFinding, false, nil, []string{
		"la cause", "causé par", "causée par", "le problème", "s avère", "vient de", "vient du", "provient", "dû à", "due à", "dû au", "l erreur", "ai trouvé", "parce que", "écoute sur", "se trouve", "renvoie",
		"retourne", "port", "limite", "le bug", "version",
	}},
	{cueNarrates, true, nil, []string{"je vais", "laisse-moi", "laissez-moi", "parfait", "voyons", "d abord je", "maintenant je"}},
}
