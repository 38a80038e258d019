import { fromJson } from "@bufbuild/protobuf";
import { assistant, CompactordError, developer, system, toolResult, user } from "../../src/index.js";
import { MessageSchema } from "../../src/v1.js";
import { Answers, failure } from "./answers.js";
import { steps } from "./steps.js";
import { text } from "./table.js";
/** Runs the steps of one case, and keeps what a program would keep between them: its session objects and their last views. */
export class Runner {
    client;
    /** The answer of the last plan step. */
    plan;
    dialect;
    sessions = new Map();
    views = new Map();
    answers = new Answers();
    constructor(client, dialect) {
        this.client = client;
        this.dialect = dialect;
    }
    /** Runs a case and returns what its steps answer. Its sessions are deleted behind it. */
    static async run(client, { dialect, steps: all }) {
        const runner = new Runner(client, dialect);
        try {
            const answers = [];
            for (const step of all) {
                answers.push(await runner.answer(step));
            }
            return answers;
        }
        finally {
            await runner.deleteSessions();
        }
    }
    /** The session object of the step's session and dialect. */
    session(step) {
        const id = text(step, "session");
        const dialect = this.dialectOf(step);
        const key = `${dialect ?? ""} ${id}`;
        const session = this.sessions.get(key) ?? this.client.session(id, dialect);
        this.sessions.set(key, session);
        return session;
    }
    /** The dialect of a step; undefined for neutral messages. */
    dialectOf(step) {
        const named = step["dialect"];
        return named === undefined ? this.dialect : (named || undefined);
    }
    /** Keeps a session object that a step made, in place of one that there was. */
    keepSession(session) {
        this.sessions.set(`${session.dialect ?? ""} ${session.id}`, session);
    }
    /** Keeps the last view of a session object. */
    keepView(session, view) {
        this.views.set(session, view);
    }
    /** The last view of a session object. */
    lastView(session) {
        return this.views.get(session);
    }
    async answer(step) {
        const does = steps[step.do];
        if (does === undefined) {
            throw new Error(`no step is called ${step.do}`);
        }
        const without = (step["leave_out"] ?? []);
        try {
            return this.answers.comparable(await does(this, step), without);
        }
        catch (e) {
            if (step["fails"] !== true || !(e instanceof CompactordError)) {
                throw e;
            }
            return this.answers.comparable(failure(e), without);
        }
    }
    async deleteSessions() {
        for (const id of new Set([...this.sessions.values()].map((session) => session.id))) {
            await this.client.deleteSession(id).catch(() => undefined);
        }
    }
}
/** A request of those arguments of a step that are fields of it. */
export function request(schema, step, ...but) {
    const own = new Set(["do", "session", "dialect", "fails", "leave_out", ...but]);
    const fields = Object.entries(step).filter(([name]) => !own.has(name));
    const session = schema.fields.some(({ name }) => name === "session_id") && step["session"] !== undefined;
    return fromJson(schema, Object.fromEntries(session ? [...fields, ["session_id", step["session"] ?? ""]] : fields));
}
/** What a step appends: neutral messages, a provider's values, or a provider's text. */
export function content(step) {
    const { messages, items } = step;
    if (messages !== undefined) {
        return messages.map(neutral);
    }
    if (step["raw"] !== undefined) {
        return [new TextEncoder().encode(text(step, "raw"))];
    }
    return items === undefined ? [step["json"]] : items;
}
/** A neutral message: a text of the user, a short form, or the message itself. */
function neutral(given) {
    if (typeof given === "string") {
        return given;
    }
    const short = given;
    if (short.tool_result !== undefined) {
        const { call_id: call, text: said, is_error: isError } = short.tool_result;
        return toolResult(call, said, isError === undefined ? {} : { isError });
    }
    for (const [name, make] of Object.entries({ system, developer, user, assistant })) {
        const said = short[name];
        if (said !== undefined) {
            return make(said);
        }
    }
    return fromJson(MessageSchema, given);
}
