// A redirect listener with many rules, alone in a process: prints its port, then waits for its end.
import { encodeBundle } from '#bundle/encode/encode.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { systemClock } from '#lib/clock.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import { RedirectServer } from '#server/redirect/redirect-server.ts'
import { bareModel } from '#test/support/bundle-models.ts'
import { redirect } from '#test/support/redirects.ts'
import { residentBytes } from '../support/process-cpu.ts'

const count = Number(process.argv[2])
const note = (_fields: object, line: string): void => void process.stderr.write(`${line}\n`)
const server = new RedirectServer({
  settings: {
    listenAddr: '127.0.0.1',
    port: 0,
    idleTimeoutMs: 60_000,
    requestTimeoutMs: 60_000,
    maxConnections: 10_000,
    maxPerClient: 10_000,
    accessLog: undefined,
    https: { port: undefined, certificates: {} },
  },
  clock: systemClock,
  log: { info: note, warn: note, error: note },
})
const started = await server.start()
if (!started.ok) throw new Error(started.error)
globalThis.gc?.()
const before = residentBytes('self').now
const table = serve(count)
process.send?.({ port: started.value.port, tableBytes: table, restBytes: before })
process.on('SIGTERM', () => void server.stop().then(() => process.exit()))

/** @returns octets of the listener's table */
function serve(rules: number): number {
  const redirects = Array.from({ length: rules }, (_, i) =>
    redirect(i, `h${i}.old.example`, `https://new.example/${i}`),
  )
  const loaded = loadBundle(encodeBundle({ ...bareModel, redirects }, plainCodeOf).bytes)
  if (!loaded.ok) throw new Error(loaded.error.message)
  server.serve(loaded.value)
  const { redirectUid, redirectRow, redirectText, redirectIndex } = loaded.value
  return [redirectUid, redirectRow, redirectText, redirectIndex].reduce(
    (sum, { byteLength }) => sum + byteLength,
    rules * 8,
  )
}
