// The library of Kerberos with keytabs and tokens that are no good; the peers lane has good ones.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openKeytab } from '#system/gss/security-context.ts'
import type { BeginContext } from '#system/gss/security-context.ts'
import { tempDir } from '#test/support/temp-dir.ts'

/** A keytab with one key, as MIT's library writes it. */
function keytabOf(service: string, host: string): Buffer {
  const counted = (text: string | Buffer): Buffer => {
    const octets = Buffer.from(text)
    return Buffer.concat([Buffer.from([octets.length >> 8, octets.length]), octets])
  }
  const entry = Buffer.concat([
    ...[Buffer.from([0, 2]), counted('EXAMPLE.COM'), counted(service), counted(host)],
    // Type of the name, time, version, AES with 256 bits.
    ...[Buffer.from('00000001' + '6b03c040' + '01' + '0012', 'hex'), counted(randomBytes(32))],
  ])
  const length = Buffer.alloc(4)
  length.writeInt32BE(entry.length)
  return Buffer.concat([Buffer.from('0502', 'hex'), length, entry])
}

async function begun(): Promise<BeginContext> {
  const path = join(tempDir(), 'dns.keytab')
  writeFileSync(path, keytabOf('DNS', 'ns1.example.com'))
  const opened = await openKeytab(path)
  if (!opened.ok) throw new Error(opened.error)
  return opened.value
}

test('a keytab that is not there, or is none, is told of with its path', async () => {
  const path = join(tempDir(), 'dns.keytab')
  expect(await openKeytab(path)).toMatchObject({ error: expect.stringContaining(path) as string })
  for (const octets of ['', 'text', '0502', Buffer.from('05020000ffff', 'hex')]) {
    writeFileSync(path, octets)
    expect(await openKeytab(path)).toMatchObject({
      ok: false,
      error: expect.stringMatching(/dns\.keytab: \S/) as string,
    })
  }
})

test('tokens that are none fail with a sentence, many at once', async () => {
  const begin = await begun()
  const tokens = ['60', '6080', '60820fff', '00'.repeat(40), 'ff'.repeat(2_000)].map((hex) =>
    Buffer.from(hex, 'hex'),
  )
  const all = Array.from({ length: 60 }, async (_, i) => {
    const context = begin()
    const step = await context.step(tokens[i % tokens.length]!)
    context.drop()
    context.drop()
    return step
  })
  for (const step of await Promise.all(all)) {
    expect(step).toMatchObject({ is: 'failed', why: expect.stringMatching(/\w{3}/) as string })
  }
})

test('a context that is dropped while it looks at a token is released afterwards', async () => {
  const context = (await begun())()
  const step = context.step(Buffer.from('60', 'hex'))
  context.drop()
  expect(await step).toMatchObject({ is: 'failed' })
  expect(() => context.sign(Buffer.from('x'))).toThrow('is agreed on')
})
