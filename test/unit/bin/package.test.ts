// A package takes its name when it is whole; what fails or is stopped leaves no part behind.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const script = join(import.meta.dirname, '../../../bin/package-image.ts')

/** Programs that do as much as the script needs. @param push what buildah does with $path */
function programs(push: string): string {
  const folder = tempDir('programs')
  const put = (name: string, text: string): void => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  put('dpkg-deb', 'mkdir -p "$3/usr/lib/gslbd" "$3/usr/bin"')
  put(
    'buildah',
    `[ "$1" = push ] || exit 0\npath=\${3#docker-archive:}\npath=\${path%%:*}\n${push}`,
  )
  return folder
}

/** Where an older image lies. */
function start(push: string) {
  const [folder, temporary] = [tempDir('package'), tempDir('stage')]
  const image = join(folder, 'image.tar')
  writeFileSync(image, 'older')
  writeFileSync(join(temporary, 'base.tar'), '')
  mkdirSync(join(temporary, 'tmp'))
  const files = ['--deb', 'x.deb', '--rootfs', join(temporary, 'base.tar'), '--output', image]
  const env = {
    PATH: `${programs(push)}:${process.env['PATH']}`,
    TMPDIR: join(temporary, 'tmp'),
  }
  const child = spawn(process.execPath, [script, ...files], { env, stdio: 'pipe' })
  let said = ''
  child.stderr.on('data', (octets: Buffer) => void (said += octets.toString()))
  return {
    folder,
    child,
    ended: async () => {
      const [code] = (await once(child, 'close')) as [number | null]
      const left = readdirSync(join(temporary, 'tmp'))
      const found = { files: readdirSync(folder), content: readFileSync(image, 'utf8') }
      return { code, said, left, ...found }
    },
  }
}

test('a package that fails half-way leaves the older one, and nothing beside it', async () => {
  const ended = await start('printf half >"$path"; exit 3').ended()
  expect(ended).toEqual({
    ...{ code: 70, said: 'buildah failed (3)\n', left: [] },
    ...{ files: ['image.tar'], content: 'older' },
  })
})

test('a build stopped by a signal does, too', async () => {
  const { folder, child, ended } = start('printf half >"$path"; exec sleep 600')
  await waitUntil('a part', () => readdirSync(folder).length === 2)
  child.kill('SIGTERM')
  expect(await ended()).toEqual({
    ...{ code: 143, said: 'stopped by SIGTERM: no package was written\n', left: [] },
    ...{ files: ['image.tar'], content: 'older' },
  })
})

test('a complete image replaces the older one', async () => {
  const ended = await start('printf whole >"$path"').ended()
  expect(ended).toMatchObject({ code: 0, left: [], files: ['image.tar'], content: 'whole' })
})
