// A signal to the first process of a container, which the kernel would drop.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const source = join(import.meta.dirname, '../../../process/first-process.ts')

/**
 * @param pid that it is told to have
 * @param more of the script
 * @returns code and signal
 */
async function endOf(pid: number, more: string, signal: NodeJS.Signals): Promise<unknown[]> {
  const script = `
    import { endAtSignals } from ${JSON.stringify(pathToFileURL(source).href)}
    endAtSignals(${pid})
    setInterval(() => undefined, 1_000)
    ${more}
    console.log('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
  onTestFinished(() => void child.kill('SIGKILL'))
  const closed = once(child, 'close')
  await once(child.stdout, 'data')
  child.kill(signal)
  return closed
}

const stops = `process.once('SIGTERM', () => process.exit(7))`
test.each([
  ['ends it, with the code of that', 1, '', 'SIGTERM', [143, null]],
  ['ends it at Ctrl-C, too', 1, '', 'SIGINT', [130, null]],
  ['is left to what listens later', 1, stops, 'SIGTERM', [7, null]],
  ['is left to the system in every other process', 2, '', 'SIGTERM', [null, 'SIGTERM']],
] as const)('a signal %s', async (_what, pid, more, signal, ended) => {
  expect(await endOf(pid, more, signal)).toEqual(ended)
})
