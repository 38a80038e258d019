package extractive

import (
	"slices"
	"strings"
)

// chatting are the beginnings of sentences that thank, part, or announce that the user comes back, in lower case.
var chatting = inAnyCase(
	"thank", "many thanks", "thx", "i appreciate", "i really appreciate", "much appreciated", "take care", "have a ", "goodbye", "bye", "see you", "talk to you", "no worries",
	"no problem", "you're welcome", "sorry for", "sorry about", "i understand.", "i see.", "that's a relief", "that is a relief", "what a relief",
	"danke", "vielen dank", "herzlichen dank", "bis später", "bis bald", "schönen ", "auf wiedersehen", "tschüss", "ich melde mich", "ich komme darauf zurück",
	"gracias", "muchas gracias", "mil gracias", "hasta luego", "hasta pronto", "que tenga", "adiós", "te aviso", "le aviso", "te avisaré", "le avisaré",
	"merci", "bonne journée", "bonne soirée", "à bientôt", "au revoir", "je vous recontacte", "je reviens vers", "je te tiens", "je vous tiens",
	"obrigad", "muito obrigad", "até logo", "até mais", "tenha um", "volto a ", "eu aviso",
	"спасибо", "большое спасибо", "до свидания", "всего доброго", "я вернусь", "я напишу", "я сообщу",
	"谢谢", "多谢", "感谢", "再见", "我稍后", "我待会", "我晚点", "辛苦了", "ありがとう", "失礼します", "また連絡", "後で連絡", "お疲れ", "감사", "고마워", "고맙", "안녕히", "다시 연락", "나중에 연락",
)

// returning are verbs with which a user announces what it does outside of the conversation.
var returning = wordSet("gather check look find get reach contact call let be try think wait see return come send update provide search keep reply respond")

// chats says whether a message of the user only thanks, parts, or says that the user comes back: it asks for nothing, and has no
// value.
func chats(said string) bool {
	if hasValue(said) || asks(said) {
		return false
	}
	chat := false
	all := true
	eachSentence(said, func(sentence string, _ bool) {
		rest, nods := afterNods(sentence)
		switch {
		case contentUpTo(rest, 1) == 0:
		case chatsIn(rest), nods && hasOpening(rest, "you for ", "you so ", "you very ", "for your ", "for the ", "for all ", "für ", "por ", "pour ", "за "):
			// "Thank you" is a nod.
			chat = true
		default:
			all = false
		}
	})
	return chat && all
}

func chatsIn(sentence string) bool {
	sentence = plainApostrophes(sentence)
	if !isASCII(sentence) {
		sentence = strings.ToLower(sentence)
	}
	if chatting.opens(sentence) {
		return true
	}
	for _, opening := range []string{"i'll ", "i will ", "okay, i'll ", "ok, i'll ", "in the meantime, i'll "} {
		if rest, ok := cutOpening(sentence, opening); ok {
			return returning[firstWord(strings.ToLower(rest))]
		}
	}
	rest, ok := cutOpening(sentence, "once i ")
	return ok && slices.ContainsFunc([]string{"i'll ", "i will "}, func(will string) bool { return containsAnyCase(rest, will) })
}
