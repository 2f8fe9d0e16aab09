// The Dockerfile agrees with the product: its settings load, and what it copies is there.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadSettings } from '#settings/settings.ts'

const root = join(import.meta.dirname, '../../..')
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')

test('the settings of the image load, with the API that its health check asks', () => {
  const [, copied = ''] = /^COPY (\S+) \/etc\/gslbd\/gslbd\.yaml$/m.exec(dockerfile) ?? []
  const settings = loadSettings({ file: join(root, copied), env: {}, flags: {} })
  if (!settings.ok) throw new Error(settings.error.join('\n'))
  expect(settings.value.api.enabled).toBe(true)
  const { listenAddr, port } = settings.value.api
  expect(dockerfile).toContain(`http://${listenAddr}:${port}/api/v1/ready`)
  expect(dockerfile).toContain(`EXPOSE 53/udp 53/tcp ${settings.value.dns.port}/udp`)
})

test('every file that the image copies from the checkout exists and is not ignored', () => {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
    .flatMap(([, paths = '']) => paths.split(' '))
    .filter((path) => path !== '.')
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
  expect(copied).toContain('package-lock.json')
  expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([])
  expect(copied.filter((path) => ignored.includes(path.split('/')[0]!))).toEqual([])
})

test('the last stage runs as a user of its own', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
  expect(last).toMatch(/^USER gslbd$/m)
})
