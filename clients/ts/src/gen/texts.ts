// Generated from clients/texts.json by `go run -C tools ./verify generate`. Do not edit.
export const texts = {
  "rejected": "The user rejected this call, and it was not made.",
  "rejected_with_feedback": "The user rejected this call, and it was not made. The user says: {feedback}",
  "no_hits": "No message matches.",
  "no_further_hits": "No further message matches.",
  "more_hits": "[There are more: search again with skip {skip}.]",
  "more_lines": "[There is more: read on with first_line {line}.]",
  "more_bytes": "[There is more: read on with first_byte {byte}.]",
  "mail_sent": "The message waits to be delivered. That takes this answer out of the conversation: if you can read it, the message was not delivered, since another call was rejected or the turn ended before.",
  "mail_pending": "The message was not sent: another one is pending, and there can be but one.",
  "mail_to_unknown": "The message was not sent: there is no checkpoint {checkpoint}; the last one is {last}.",
  "mail_to_put_aside": "The message was not sent: checkpoint {checkpoint} was put aside by a return to an earlier one.",
  "folded": "Messages {first} to {last} are shown as your result from now on. To read one of them, recall it by its index, such as #{first}.",
  "nothing_folded": "Nothing was folded: there is no finished step since checkpoint {checkpoint}.",
  "fold_not_shorter": "Nothing was folded: your result is not shorter than the messages that it would stand for.",
  "fold_from_unknown": "Nothing was folded: there is no checkpoint {checkpoint}; the last one is {last}.",
  "fold_from_put_aside": "Nothing was folded: checkpoint {checkpoint} was put aside by a return to an earlier one.",
  "not_folded": "Nothing was folded: {why}",
  "child_failed": "The sub-agent stopped before it was done, so this is no result of it: {error}",
  "child_stopped": "The sub-agent was stopped before it was done, so this is no result of it."
} as const;
