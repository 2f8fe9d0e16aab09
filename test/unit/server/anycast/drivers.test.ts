// Tests the drivers' messages to their daemons, and daemons that answer otherwise.
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createBirdDriver } from '#server/anycast/bird.ts'
import { createExabgpDriver } from '#server/anycast/exabgp.ts'
import { tempDir } from '#test/support/temp-dir.ts'

/** Says `greeting`, then to each line what stands beside it. @returns its path, and the lines */
async function standIn(greeting: string, says: (line: string) => string) {
  const path = join(tempDir('bird'), 'bird.ctl')
  const heard: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.write(greeting)
    socket.setEncoding('latin1').on('data', (line: string) => {
      heard.push(line)
      socket.write(says(line))
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => void server.close())
  return { path, heard }
}

const welcome = '0001 BIRD 2.0.12 ready.\n'
const header = '2002-Name       Proto      Table      State  Since         Info\n'

/** As BIRD with two protocols, of which one cannot be enabled. */
function twoProtocols(line: string): string {
  if (line.startsWith('show')) return `${header}1002-x Static master4 up 17:24:32.946\n0000 \n`
  return line.includes('gslbd6') ? '8003 No protocols match\n' : '0011-gslbd: enabled\n0000 \n'
}

test('each protocol is told, one line at a time, then looked at', async () => {
  const { path, heard } = await standIn(welcome, twoProtocols)
  const driver = createBirdDriver({ socket: path, protocols: ['gslbd', 'other'] })
  expect(await driver.announce()).toEqual({
    ok: true,
    value: { announces: 'all', text: 'gslbd: enabled; gslbd: enabled; x is up; x is up' },
  })
  expect(heard).toEqual([
    'enable gslbd\n',
    'enable other\n',
    'show protocols gslbd\n',
    'show protocols other\n',
  ])
})

test('a protocol that fails does not keep the others from their command', async () => {
  const { path, heard } = await standIn(welcome, twoProtocols)
  const driver = createBirdDriver({ socket: path, protocols: ['gslbd6', 'gslbd'] })
  const told = await driver.withdraw()
  expect(told).toMatchObject({ ok: false })
  expect(JSON.stringify(told)).toContain('disable gslbd6')
  expect(JSON.stringify(told)).toContain('No protocols match')
  expect(heard).toContain('disable gslbd\n')
})

test.each([
  ['says nothing', '', (): string => '', 'no answer within 2000 ms'],
  ['is no BIRD', 'HTTP/1.1 400 Bad Request\r\n', (): string => '', 'without a code'],
  ['greets with another code', '0011 hello\n', (): string => '', 'does not greet as BIRD 2'],
  ['never ends a line', welcome, (): string => 'x'.repeat(5_000), 'more than 1024 octets'],
  ['never ends a reply', welcome, (): string => '0011-x\n'.repeat(300), 'more than 256 lines'],
])('a daemon that %s is an error with its reason', async (_name, greeting, says, why) => {
  const { path } = await standIn(greeting, says)
  const looked = await createBirdDriver({ socket: path, protocols: ['gslbd'] }).look()
  expect(looked).toEqual({ ok: false, error: expect.stringContaining(why) as string })
})

test('a socket that is not there, and what to look at', async () => {
  const driver = createBirdDriver({ socket: '/nonexistent/bird.ctl', protocols: ['gslbd'] })
  const said = expect.stringContaining('there is no such socket; is BIRD running') as string
  expect(await driver.announce()).toEqual({ ok: false, error: said })
})

const exabgp = (pipe: string) =>
  createExabgpDriver({ pipe, routes: ['192.0.2.1', '2001:db8::/48'], attributes: 'next-hop self' })

test('ExaBGP reads a line for each route from the pipe', async () => {
  const pipe = join(tempDir('exabgp'), 'exabgp.in')
  execFileSync('mkfifo', [pipe])
  const nobody = expect.stringContaining('nobody reads the pipe') as string
  expect(await exabgp(pipe).announce()).toEqual({ ok: false, error: nobody })
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  onTestFinished(() => closeSync(reader))
  const text = (): string => {
    const buffer = Buffer.alloc(4_096)
    return buffer.toString('utf8', 0, readSync(reader, buffer))
  }
  expect(await exabgp(pipe).announce()).toMatchObject({ ok: true, value: { announces: null } })
  expect(text()).toBe(
    'announce route 192.0.2.1/32 next-hop self\nannounce route 2001:db8::/48 next-hop self\n',
  )
  expect(await exabgp(pipe).withdraw()).toMatchObject({ ok: true })
  expect(text()).toBe(
    'withdraw route 192.0.2.1/32 next-hop self\nwithdraw route 2001:db8::/48 next-hop self\n',
  )
})

test('a file in the place of the pipe is refused; one that is not there is not made', async () => {
  const file = join(tempDir('exabgp'), 'exabgp.in')
  const missing = expect.stringContaining('there is no such pipe') as string
  expect(await exabgp(file).announce()).toEqual({ ok: false, error: missing })
  writeFileSync(file, '')
  expect(await exabgp(file).withdraw()).toEqual({
    ok: false,
    error: expect.stringContaining('it is a file and no pipe') as string,
  })
  expect(readFileSync(file, 'utf8')).toBe('')
})

test('a pipe that nobody empties does not stop the node', async () => {
  const pipe = join(tempDir('exabgp'), 'exabgp.in')
  execFileSync('mkfifo', [pipe])
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  onTestFinished(() => closeSync(reader))
  let last = await exabgp(pipe).announce()
  for (let i = 0; i < 10_000 && last.ok; i++) last = await exabgp(pipe).announce()
  expect(last).toEqual({ ok: false, error: expect.stringContaining('the pipe is full') as string })
})
