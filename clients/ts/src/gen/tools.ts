// Generated from clients/tools.json by `go run -C tools ./verify generate`. Do not edit.
export const definitions = [
  {
    "name": "recall_content",
    "description": "Reads a part of this conversation that is no longer shown in full, word for word. Where content was left out, a reference such as #12 or #12.0 stands in its place, and summaries cite such references behind what they tell. A reference such as SESSION#12 reads message 12 of a sub-agent, whose result names its SESSION. A context block that is shown in part is read whole by block NAME. Use it before you rely on a detail that you no longer see, such as an exact path, a number, an error text or a file's content that was read before. Long content comes in pieces: the answer says how to read on.",
    "parameters": {
      "type": "object",
      "properties": {
        "reference": {
          "type": "string",
          "description": "What to read: a reference such as #12, #12.0, #12.0.1 or SESSION#12, block NAME, or the whole text that stands in place of the content."
        },
        "first_line": {
          "type": "integer",
          "minimum": 1,
          "description": "The line to begin at, counted from 1. With match, the first line to search."
        },
        "line_count": {
          "type": "integer",
          "minimum": 1,
          "description": "How many lines to read. Default: all that fit."
        },
        "match": {
          "type": "string",
          "description": "Only the lines that match this expression (RE2 syntax, as with grep), with lines around them."
        },
        "ignore_case": {
          "type": "boolean",
          "description": "With match: whether upper and lower case are the same. Default false."
        },
        "context_lines": {
          "type": "integer",
          "minimum": 0,
          "maximum": 100,
          "description": "With match: lines to show before and behind each match. Default 2."
        },
        "first_byte": {
          "type": "integer",
          "minimum": 0,
          "description": "The byte to begin at, counted from 0, in place of lines and match: for lines that are too long to be read at once."
        },
        "max_bytes": {
          "type": "integer",
          "minimum": 1,
          "maximum": 262144,
          "description": "The most bytes to answer. Default 16384."
        }
      },
      "required": ["reference"]
    }
  },
  {
    "name": "search_messages",
    "description": "Searches all of this conversation, also what is no longer shown: what was summarized, folded, shortened or taken back, and what sub-agents said in conversations of their own. Answers a line for each message found, with its reference for recall_content. Give either words or pattern.",
    "parameters": {
      "type": "object",
      "properties": {
        "words": {
          "type": "string",
          "description": "Words that a message must hold, all of them, in any order and case."
        },
        "pattern": {
          "type": "string",
          "description": "An expression (RE2 syntax, as with grep) that a line of the message must match. Begin it with (?i) to ignore case."
        },
        "newest_first": {
          "type": "boolean",
          "description": "Whether to begin with the newest message. Default false: the oldest first."
        },
        "limit": {
          "type": "integer",
          "minimum": 1,
          "maximum": 100,
          "description": "The most messages to answer. Default 20."
        },
        "skip": {
          "type": "integer",
          "minimum": 0,
          "maximum": 10000,
          "description": "How many messages to pass over first: to see more of what an earlier search found. Default 0."
        }
      }
    }
  },
  {
    "name": "send_dmail",
    "description": "Sends a message back in time, to yourself at an earlier checkpoint of this conversation. Everything that was said since that checkpoint is put aside, and you go on from there knowing only the message. Use it where much of what you have since read or tried is of no more use: a large file of which a few lines matter, a search that led nowhere, a long repair that ended in a short finding. Only the conversation goes back: files, processes and all else outside stay as they are now. So say in the message what you found out, what you have changed, and what is left to do. The user does not see the message, and it is no answer to the user. Checkpoints are announced in the conversation with their numbers.",
    "parameters": {
      "type": "object",
      "properties": {
        "message": {
          "type": "string",
          "description": "What you want to have known at the checkpoint."
        },
        "checkpoint_id": {
          "type": "integer",
          "minimum": 1,
          "description": "The number of the checkpoint to go back to, as it was announced."
        }
      },
      "required": ["message", "checkpoint_id"]
    }
  },
  {
    "name": "fold_since",
    "description": "Folds finished work: everything from a checkpoint of this conversation up to this call is shown as your result alone, in the place where it stood. Nothing is taken back: what you did stays done, and you go on from here. Use it where a part of the task is finished and only its outcome still matters: a search that found its place, a test that now passes, files that were read and understood. So say in the result what came of it: what you found out, what you changed and where, and what is left to do, with the exact names, paths and figures that you will need. Where you need a detail later, recall_content still reads all of it, word for word. Checkpoints are announced in the conversation with their numbers; take one from your work on the user's newest message. The user does not see the result, and it is no answer to the user.",
    "parameters": {
      "type": "object",
      "properties": {
        "checkpoint_id": {
          "type": "integer",
          "minimum": 1,
          "description": "The number of the checkpoint at which the finished work begins, as it was announced."
        },
        "result": {
          "type": "string",
          "description": "What came of the work, for yourself: the text that is shown in its place."
        }
      },
      "required": ["checkpoint_id", "result"]
    }
  }
] as const;
