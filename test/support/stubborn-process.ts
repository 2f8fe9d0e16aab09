// A process that hands a socket over and then releases nothing: `node stubborn-process.ts DIR`.
import { createServer } from 'node:net'
import { openControlSocket } from '#process/replace/control-socket.ts'
import { lineOf, readLines } from '#process/replace/messages.ts'
import type { Offer } from '#process/replace/messages.ts'
import { openDescriptors } from '#system/sockets/descriptors.ts'
import { descriptorOf } from '#system/sockets/handed-sockets.ts'

const [dataDir = ''] = process.argv.slice(2)
const server = createServer().listen(0, '127.0.0.1', () => {
  const offer: Offer = {
    pid: process.pid,
    isServing: true,
    sockets: [{ name: 'api 127.0.0.1 0', count: 1 }],
    variables: { NOTIFY_SOCKET: '/run/notify' },
  }
  const greet = (socket: Parameters<Parameters<typeof openControlSocket>[1]>[0]): void => {
    readLines(socket, () => {
      const [to = -1, own = -1] = [descriptorOf(socket), descriptorOf(server)]
      openDescriptors()?.send(to, lineOf(offer), [own])
      socket.removeAllListeners('data').resume()
    })
  }
  openControlSocket(dataDir, greet, (error) => {
    throw error
  })
})
