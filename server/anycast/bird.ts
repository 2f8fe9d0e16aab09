// Drives BIRD 2: enables and disables protocols by name, over its control socket.
import { connect } from 'node:net'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { BirdReplies, hasFailed, sentenceOf } from './bird-replies.ts'
import type { BirdReply } from './bird-replies.ts'
import type { AnycastDriver, DriverReply } from './driver.ts'

interface BirdSettings {
  /** Path of the control socket. */
  readonly socket: string
  /**
   * Protocols that announce the routes, such as one of the kind `static` for each family. They
   * become part of commands: the settings let symbols pass that BIRD takes without quotes.
   */
  readonly protocols: readonly string[]
}

/** Time for everything that is sent and received in one connection. */
const patienceMs = 2_000
/** Code of the line with which BIRD begins each connection. */
const welcomeCode = 1
/** Code of a row of `show protocols`. */
const rowCode = 1_002

/** Opens a connection for each call, because BIRD may be restarted at any time. */
export function createBirdDriver({ socket, protocols }: BirdSettings): AnycastDriver {
  const looks = protocols.map((name) => `show protocols ${name}`)
  const say = async (verb: string | undefined): Promise<Result<DriverReply, string>> => {
    const orders = verb === undefined ? [] : protocols.map((name) => `${verb} ${name}`)
    const replies = await converse(socket, [...orders, ...looks])
    return replies.ok ? ok(replyOf(replies.value, orders.length)) : replies
  }
  return {
    announce: () => say('enable'),
    withdraw: () => say('disable'),
    look: () => say(undefined),
  }
}

function replyOf(replies: readonly BirdReply[], orders: number): DriverReply {
  const rows = replies.slice(orders).map(stateIn)
  const up = rows.filter(({ state }) => state !== 'down').length
  const announces = up === 0 ? 'none' : up === rows.length ? 'all' : 'some'
  const said = [...replies.slice(0, orders).map(sentenceOf), ...rows.map(({ text }) => text)]
  return { announces, text: said.join('; ') }
}

/**
 * Reads a row such as `gslbd  Static  master4  up  12:00:00.000`: name, kind, table, state, since.
 */
function stateIn({ lines }: BirdReply): { readonly state: string; readonly text: string } {
  const [name = '', , , state = ''] =
    lines
      .find(({ code }) => code === rowCode)
      ?.text.trim()
      .split(/\s+/) ?? []
  return { state, text: `${name} is ${state}` }
}

/** Sends all commands, one after the other. Errors: that of the first command that failed */
function converse(
  path: string,
  commands: readonly string[],
): Promise<Result<readonly BirdReply[], string>> {
  return new Promise((resolve) => {
    const reader = new BirdReplies()
    const replies: BirdReply[] = []
    let isWelcome = false
    const socket = connect({ path })
    const end = (result: Result<readonly BirdReply[], string>): void => {
      clearTimeout(patience)
      socket.destroy()
      resolve(result)
    }
    const fail = (why: string): void => end(err(`BIRD at ${path}: ${why}`))
    const patience = setTimeout(() => fail(`no answer within ${patienceMs} ms`), patienceMs)
    const take = (reply: BirdReply): void => {
      if (!isWelcome) {
        if (reply.code !== welcomeCode) return fail('it does not greet as BIRD 2 does')
        isWelcome = true
      } else replies.push(reply)
      const next = commands[replies.length]
      if (next !== undefined) return void socket.write(`${next}\n`)
      const failed = replies.findIndex(hasFailed)
      if (failed < 0) end(ok(replies))
      else fail(`"${commands[failed] ?? ''}" failed: ${sentenceOf(replies[failed]!)}`)
    }
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      const read = reader.read(chunk)
      if (read.ok) read.value.forEach(take)
      else fail(read.error)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => fail(whyNot(error)))
    socket.on('close', () => fail('it hangs up'))
  })
}

function whyNot(error: NodeJS.ErrnoException): string {
  return reasons[error.code ?? ''] ?? error.message
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket; is BIRD running, and anycast.bird.socket its socket?',
  ECONNREFUSED: 'nobody listens; is BIRD running?',
  EACCES: 'this user may not open it; make it a member of the group of the socket',
}
