// Answers HTTP challenges of ACME (RFC 8555 section 8.3) in the place of a redirect: with a proof
// of this installation, or with what a member of the host says.
import type { IncomingMessage } from 'node:http'
import { boundedBytes } from '#lib/bounded-body.ts'
import type { ChallengeRule, RedirectChallenge } from './messages.ts'

const { request } = process.getBuiltinModule('node:http')

export const challengeLimits = {
  /** All members of a host together. */
  patienceMs: 5_000,
  answerBytesMax: 4_096,
  /** Requests to members at once; more are 503. */
  underWayMax: 32,
} as const

const prefix = '/.well-known/acme-challenge/'
const tokenForm = /^[A-Za-z0-9_-]{1,128}$/

/** What is asked for: a text that is here, or members that may have it. */
export type FoundChallenge =
  | { readonly answer: string }
  | { readonly members: readonly string[]; readonly host: string; readonly token: string }

export class Challenges {
  readonly #members = new Map<string, readonly string[]>()
  #answers = new Map<string, string>()
  #underWay = 0

  constructor(rules: readonly ChallengeRule[]) {
    for (const { hosts, members } of rules) {
      for (const host of hosts) this.#members.set(host.toLowerCase(), members)
    }
  }

  /** Answers these from now on, and no others. */
  adopt(challenges: readonly RedirectChallenge[]): void {
    this.#answers = new Map(
      challenges.map(({ host, token, answer }) => [`${host} ${token}`, answer]),
    )
  }

  /** @returns undefined: it is no challenge, or one of which nothing is known here */
  find(header: string | undefined, target: string | undefined): FoundChallenge | undefined {
    if (target?.startsWith(prefix) !== true || header === undefined) return undefined
    const token = target.slice(prefix.length)
    if (!tokenForm.test(token)) return undefined
    const host = header.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')
    const answer = this.#answers.get(`${host} ${token}`)
    if (answer !== undefined) return { answer }
    const members = this.#members.get(host)
    return members === undefined ? undefined : { members, host, token }
  }

  /** @returns status and text: those of the first member that has it, 404 where none has */
  async ask(
    found: Extract<FoundChallenge, { readonly members: unknown }>,
  ): Promise<{ readonly status: number; readonly text: string }> {
    if (this.#underWay >= challengeLimits.underWayMax) return { status: 503, text: '' }
    this.#underWay++
    const signal = AbortSignal.timeout(challengeLimits.patienceMs)
    try {
      for (const member of found.members) {
        const text = await textOf(member, found, signal).catch(() => undefined)
        if (text !== undefined) return { status: 200, text }
      }
      return { status: signal.aborted ? 504 : 404, text: '' }
    } finally {
      this.#underWay--
    }
  }
}

/** @returns undefined: it has none */
async function textOf(
  member: string,
  { host, token }: { readonly host: string; readonly token: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const sent = request(`http://${member}${prefix}${token}`, {
    ...{ signal, agent: false, headers: { host, 'user-agent': 'gslbd' } },
  })
  sent.once('response', resolve).on('error', reject)
  sent.end()
  try {
    const response = await promise
    if (response.statusCode !== 200) return undefined
    const octets = await boundedBytes(response, challengeLimits.answerBytesMax)
    return Buffer.from(octets).toString('latin1')
  } finally {
    sent.destroy()
  }
}
