// A daemon that takes its time over one thing, or fails at it, for start.test.ts.
import { setTimeout as delay } from 'node:timers/promises'
import { startCalledOff } from '#process/data/called-off.ts'
import { runUntilSignal } from '#node/start.ts'
import { loadSettings } from '#settings/settings.ts'

const slowAt = process.argv[2]
/** From the first signal to the end; by default as the program has it. */
const patienceMs = process.argv[3] === undefined ? undefined : Number(process.argv[3])
const say = (text: string): void => void process.stdout.write(`${text}\n`)
const pauseMs = 300

let reloads = 0
/** A real daemon has sockets that keep the process alive. */
let keepAlive: NodeJS.Timeout | undefined
const daemon = {
  dnsPort: 0,
  apiPort: null,
  isRestarting: () => false,
  reload: async () => {
    const number = ++reloads
    say(`reload ${number} begins`)
    if (slowAt === 'reload') await delay(pauseMs)
    if (slowAt === 'reload fails') throw new Error('no thread to be had')
    say(`reload ${number} ends`)
  },
  stop: async () => {
    if (slowAt === 'stop') await delay(600_000)
    while (slowAt === 'stop without a pause');
    say('stopped')
  },
}

const log = {
  debug: () => undefined,
  info: (_fields: object, message: string) => say(message),
  warn: () => undefined,
  error: (_fields: object, message: string) => say(message),
  always: () => undefined,
  setLevel: () => undefined,
}

const ended = await runUntilSignal(
  async (calledOff) => {
    say('starting')
    if (slowAt === 'start until called off') {
      await new Promise((resolve) => {
        keepAlive = setInterval(() => calledOff.aborted && resolve(null), 5)
      })
      return { ok: false, error: startCalledOff }
    }
    if (slowAt === 'start') await delay(pauseMs)
    say('running')
    keepAlive = setInterval(() => undefined, 1_000)
    return { ok: true, value: daemon }
  },
  log,
  () => loadSettings({ env: {}, flags: {} }),
  patienceMs,
)
clearInterval(keepAlive)
process.exitCode = ended.ok ? 0 : 1
