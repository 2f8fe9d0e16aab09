// A stream that fails for a while, and what is known of it afterwards.
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { openOutlet } from '#cli/terminal/outlet.ts'

/** A stream as `process.stdout` is one: it fails while told to, and stays open. */
function failing() {
  const written: string[] = []
  let code: string | undefined
  const stream = new Writable({
    autoDestroy: false,
    decodeStrings: false,
    write(text: string, _encoding, done) {
      if (code === undefined) written.push(text)
      done(code === undefined ? null : Object.assign(new Error(code), { code }))
    },
    destroy(_error, done) {
      done(null)
    },
  })
  return { stream, written, fail: (next?: string) => void (code = next) }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

for (const { code, isFault } of [
  { code: 'ENOSPC', isFault: true },
  { code: 'EPIPE', isFault: false },
]) {
  test(`${code} throws nothing, and ${isFault ? 'is' : 'is not'} a fault`, async () => {
    const { stream, fail } = failing()
    const outlet = openOutlet(stream)
    outlet.write('a')
    await settled()
    expect(outlet.fault()).toBeUndefined()
    fail(code)
    outlet.write('b')
    await settled()
    expect(outlet.fault() !== undefined).toBe(isFault)
    expect(outlet.takeLost()).toBe(0)
  })
}
