# threat: 71 what must pass
# limit: wall_ms=20000 cpu_ms=20000
import os, sys
__name__ != "__main__" or (os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import asyncio, multiprocessing as mp, subprocess, threading, tempfile, sqlite3, locale, concurrent.futures as cf, signal, socket, shutil, time
def sq(x): return x*x
def main():
    async def a():
        loop=asyncio.get_running_loop(); f=loop.create_future()
        threading.Thread(target=lambda: loop.call_soon_threadsafe(f.set_result, 5)).start()
        assert await f==5
        p=await asyncio.create_subprocess_exec("echo","hi",stdout=subprocess.PIPE); o,_=await p.communicate(); assert o==b"hi\n"
        # unix sockets
        async def h(r,w): w.write(await r.readline()); await w.drain(); w.close()
        s=await asyncio.start_unix_server(h,"/tmp/s"); r,w=await asyncio.open_unix_connection("/tmp/s"); w.write(b"x\n"); assert await r.readline()==b"x\n"
    asyncio.run(a()); print("asyncio")
    for m in ("fork","spawn","forkserver"):
        with mp.get_context(m).Pool(3) as p: assert p.map(sq,range(5))==[0,1,4,9,16]
        print("mp",m)
    with cf.ProcessPoolExecutor(2) as e: assert list(e.map(sq,[2]))==[4]
    with cf.ThreadPoolExecutor(8) as e: assert list(e.map(sq,[2]))==[4]
    print(subprocess.run("echo $((1+1)) | cat",shell=True,capture_output=True,text=True).stdout)
    s=mp.Semaphore(1); s.acquire(); s.release()
    from multiprocessing import shared_memory
    sm=shared_memory.SharedMemory(create=True,size=1000); sm.buf[0]=1; sm.close(); sm.unlink()
    with tempfile.NamedTemporaryFile() as t: t.write(b"x")
    c=sqlite3.connect("/tmp/x.db"); c.execute("create table t(a)"); c.execute("insert into t values(1)"); c.commit(); print(c.execute("select * from t").fetchall())
    locale.setlocale(locale.LC_ALL,""); print(locale.getlocale())
    print(os.cpu_count(), os.getlogin() if 0 else "", os.path.expanduser("~"))
    shutil.copy("/work/main.py","/tmp/m.py"); shutil.move("/tmp/m.py","/work/m2.py")
    signal.setitimer(signal.ITIMER_REAL,0.01); 
    signal.signal(signal.SIGALRM,lambda *a: print("alarm")); time.sleep(0.05)
    print(open("/dev/null","w").write("x"), len(os.urandom(3)))
    open("/dev/stdout","w").write("stdout ok\n")
    import pwd,getpass,platform,uuid,random,decimal,zoneinfo; print(getpass.getuser(), platform.node(), platform.platform())
    import ctypes; print(ctypes.CDLL(None).getpid())
    r,w=os.pipe(); print(os.get_terminal_size.__name__, sys.stdin.read()=="" )
if __name__=="__main__": main()
